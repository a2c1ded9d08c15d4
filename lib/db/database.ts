import postgres from "postgres";
import { lazy } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { deadline } from "#lib/deadline.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { busy, tookTooLong } from "#lib/errors/table.ts";
import { log, waiting } from "#lib/log.ts";
import { driverOptions, types } from "./credentials.ts";
import { isLostConnection, isUnreachable, tooManyConnections } from "./outage.ts";
import { readCredentials } from "./role-login.ts";

/** A caller gets a response within 3 s even when the database hangs; the rest is for sending the response. */
const deadlineMs = 2_600;
const connectTimeoutSeconds = 2;

const INVALID_PASSWORD = "28P01";
const QUERY_CANCELED = "57014";

const codeOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
};

/** The password that the server rejected last: during a rotation the pending one may already be in use. */
let refused: ReturnType<typeof readCredentials> | undefined;

const credentials = lazy(async () =>
  readCredentials(getSetting("DATABASE_SECRET_ID"), (await refused)?.password),
);

/** Logs the database functions' notices for the operator: SQLSTATE class MI, with the fields of the log line in the detail. */
const logNotice = ({ code, message, detail }: postgres.Notice): void => {
  if (code?.startsWith("MI")) log.warn(message ?? "", JSON.parse(detail ?? "{}"));
};

/** One connection, because a Lambda environment serves one request at a time. */
const connection = lazy(async () =>
  postgres({
    ...driverOptions(await credentials()),
    max: 1,
    prepare: false,
    types,
    connect_timeout: connectTimeoutSeconds,
    onnotice: logNotice,
    backoff: () => 0, // a caller is waiting: the next request may reconnect at once
  }),
);

/** Closes the connection without waiting for a server that may never respond. */
const disconnect = (): void => {
  connection.reset()?.then(
    (sql) => sql.end({ timeout: 0 }),
    () => {},
  );
};

/** Starts fetching the secret while the module loads; an error surfaces at first use. */
export const prepareDatabase = (): void => {
  connection().catch(() => {});
};

/** Whether `withDatabase` failed because no connection was left. */
export const isBusy = (error: unknown): boolean => error instanceof ApiError && error.code === busy.code;

/** Returns the connection to the server. The next request opens another one. */
export const releaseConnection = async (): Promise<void> => {
  const sql = await connection.reset()?.catch(() => undefined);
  await sql?.end({ timeout: 1 });
};

type Work<T> = (sql: postgres.Sql) => Promise<T>;

/** A connection may be lost, then its password outdated, then the newest one not yet in use. */
const maxAttempts = 4;

const attempt = async <T>(work: Work<T>, isExpired: () => boolean): Promise<T> => {
  let wasMoved = false;
  for (let made = 1; ; made++)
    try {
      return await work(await connection());
    } catch (error) {
      if (isExpired() || made === maxAttempts || !recover(error, wasMoved)) throw error;
      wasMoved ||= isUnreachable(codeOf(error));
    }
};

/**
 * Prepares a retry.
 *
 * @param wasMoved the server's address has been read again.
 * @returns false for an error that a retry cannot fix.
 */
const recover = (error: unknown, wasMoved: boolean): boolean => {
  const code = codeOf(error);
  const isMoved = isUnreachable(code) && !wasMoved;
  if (code !== INVALID_PASSWORD && !isLostConnection(code) && !isMoved) return false;
  log.warn("database connection renewed", { code });
  disconnect();
  // a restored database has another address
  if (isMoved) credentials.reset();
  if (code === INVALID_PASSWORD) refused = credentials.reset();
  return true;
};

/**
 * Runs `work` on the function's database connection.
 *
 * Fetches a rotated password and renews a broken connection within the same request: `work` may run twice and must
 * be idempotent.
 *
 * @throws ApiError 504 when a statement exceeds the role's timeout, 503 at once when the server or the role has no
 * connection left.
 * @throws Error with its cause for everything else, within 2.6 s even when the server hangs.
 */
export const withDatabase = async <T>(work: Work<T>): Promise<T> => {
  let expired = false;
  const expire = () => {
    expired = true;
    return new Error(`database did not answer within ${deadlineMs} ms`);
  };
  try {
    const answered = deadline(
      attempt(work, () => expired),
      deadlineMs,
      expire,
    );
    return await waiting("database_ms", answered);
  } catch (cause) {
    // after any other failure than a failed statement the connection's state is unknown
    if (
      !(cause instanceof postgres.PostgresError && cause.severity === "ERROR") ||
      isLostConnection(codeOf(cause))
    )
      disconnect();
    // a restored database has another address
    if (!(cause instanceof postgres.PostgresError)) credentials.reset();
    if (codeOf(cause) === QUERY_CANCELED) throw new ApiError(tookTooLong, { cause });
    if (codeOf(cause) === tooManyConnections) throw new ApiError(busy, { cause });
    throw new Error("database request failed", { cause });
  }
};
