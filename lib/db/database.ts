import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { Fault } from "#lib/http/fault.ts";
import { lazy } from "#lib/lazy.ts";
import { log } from "#lib/log.ts";
import { connectionTo, tlsSetting } from "./credentials.ts";
import { isLostConnection } from "./lost-connection.ts";
import { readCredentials } from "./role-secret.ts";

/** A caller is answered within 3 s even when the database is silent; what is left is for the answer. */
const deadlineMs = 2_600;
const connectTimeoutSeconds = 2;

const INVALID_PASSWORD = "28P01";
const QUERY_CANCELED = "57014";

const codeOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
};

/** What the server refused last: while a password is being rotated, it is the coming one that opens. */
let refused: ReturnType<typeof readCredentials> | undefined;

const credentials = lazy(async () =>
  readCredentials(getSetting("DATABASE_SECRET_ID"), (await refused)?.password),
);

/** One connection, as a Lambda environment serves one request at a time. */
const connection = lazy(async () => {
  const address = connectionTo(await credentials());
  return postgres({
    ...address,
    ssl: tlsSetting(),
    max: 1,
    prepare: false,
    fetch_types: false, // no array types are read; asking for them costs a round trip, 8 ms cold
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0, // a caller waits: the next attempt is the next request's, at once
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } }, // totals are JSON integers
    onnotice: () => {},
  });
});

/** Gives the connection up without waiting for a server that may never answer. */
const disconnect = (): void => {
  connection.reset()?.then(
    (sql) => sql.end({ timeout: 0 }),
    () => {},
  );
};

/** Starts the secret's fetch while the module loads; a failure shows at the first use. */
export const prepareDatabase = (): void => {
  connection().catch(() => {});
};

type Work<T> = (sql: postgres.Sql) => Promise<T>;

/** A connection may be lost; when it is renewed, the password be an old one; and the newest not yet in use. */
const maxAttempts = 4;

const attempt = async <T>(work: Work<T>, isExpired: () => boolean): Promise<T> => {
  for (let made = 1; ; made++)
    try {
      return await work(await connection());
    } catch (error) {
      if (isExpired() || made === maxAttempts || !mend(error)) throw error;
    }
};

/** Makes ready for one more attempt. @returns false for an error that another attempt would not mend. */
const mend = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== INVALID_PASSWORD && !isLostConnection(code)) return false;
  log.warn("database connection is renewed", { code });
  disconnect();
  if (code === INVALID_PASSWORD) refused = credentials.reset();
  return true;
};

/**
 * Runs work on the function's database connection.
 *
 * A rotated password is fetched again and a connection that broke is renewed, within the same request: work
 * may be done twice, and must bear it.
 *
 * @throws Fault 504 when the statement took too long for the role's limit.
 * @throws Error with the cause for everything else, within 2.6 s also when the server is silent.
 */
export const withDatabase = async <T>(work: Work<T>): Promise<T> => {
  let expired = false;
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      expired = true;
      reject(new Error(`database did not answer within ${deadlineMs} ms`));
    }, deadlineMs);
  });
  const answer = attempt(work, () => expired);
  try {
    return await Promise.race([answer, deadline]);
  } catch (cause) {
    // after anything but a failed statement nothing is known of the connection's state
    if (!(cause instanceof postgres.PostgresError && cause.severity === "ERROR")) disconnect();
    if (codeOf(cause) === QUERY_CANCELED)
      throw new Fault(504, "timeout", "The database took too long; try again, or ask for less", {
        cause,
      });
    throw new Error("database request failed", { cause });
  } finally {
    clearTimeout(timer);
    answer.catch(() => {}); // it may still fail after the deadline answered
  }
};
