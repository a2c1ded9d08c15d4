import postgres from "postgres";
import { findSetting, getSetting } from "#lib/config.ts";
import { Credentials, connectionTo, readAdmin, tlsSetting } from "#lib/db/credentials.ts";
import type { LoginRole } from "#lib/db/roles.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { secretsPrefix } from "../aws/stage-names.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { readLocalSecret } from "../local/secrets/store.ts";
import { CommandError, WrongCall } from "./command.ts";

const noDatabase = `No database was found. To start a local one, run npm run dev in another terminal.
For another database, set DATABASE_URL, or DATABASE_SECRET_ID with AWS_REGION and AWS credentials.`;

/** Whether commands use the running `npm run dev`. */
export const isLocal = (): boolean => !(findSetting("DATABASE_URL") ?? findSetting("DATABASE_SECRET_ID"));

/** @throws WrongCall for a stage without its database, because the command would use that of `npm run dev`. */
export const requireStageDatabase = (stage: string | undefined, role: LoginRole): void => {
  if (stage === undefined || !isLocal()) return;
  throw new WrongCall(
    `--stage ${stage} needs the database of that stage: set DATABASE_SECRET_ID=${secretsPrefix(stage)}database/${role}, ` +
      "AWS_REGION and AWS credentials.",
  );
};

const options = { fetch_types: false, onnotice: () => {} };

const connect = (credentials: Credentials, ssl: "verify-full" | false, max: number) =>
  postgres({ ...options, max, ...connectionTo(credentials), ssl });

/** The administrator migrates. */
type Role = LoginRole | "admin";

/** Reads the role's secret from the running `npm run dev`, which stores its secrets in a file. */
const localCredentials = (role: Role): Credentials => {
  if (!findDevFile(localFolder)) throw new CommandError(noDatabase);
  return readLocalSecret(`database/${role}`);
};

/** Requires TLS for any other host, because the data is personal, unless the URL sets `sslmode`. */
const needsTls = (url: string): boolean => {
  const parsed = URL.parse(url);
  if (!parsed)
    throw new CommandError("DATABASE_URL is invalid. Expected: postgres://user:password@host/database");
  const { hostname, searchParams } = parsed;
  return !["127.0.0.1", "localhost", "[::1]"].includes(hostname) && !searchParams.has("sslmode");
};

const connection = async (role: Role, max: number): Promise<postgres.Sql> => {
  const url = findSetting("DATABASE_URL");
  if (url) return postgres(url, { ...options, max, ...(needsTls(url) && { ssl: "verify-full" as const }) });
  if (!findSetting("DATABASE_SECRET_ID")) return connect(localCredentials(role), false, max);
  const stored = role === "admin" ? readAdmin() : readSecret(getSetting("DATABASE_SECRET_ID"), Credentials);
  return connect(await stored, tlsSetting(), max);
};

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "CONNECT_TIMEOUT"]);

/**
 * Runs work on a connection to the database in `DATABASE_URL` or in the secret `DATABASE_SECRET_ID`, or else to the
 * running `npm run dev` as the given role.
 *
 * @throws CommandError that says how to provide a database, if none is running or configured.
 */
export const withConnection = async <T>(
  role: Role,
  work: (sql: postgres.Sql) => Promise<T>,
  { max = 1 }: { max?: number } = {},
): Promise<T> => {
  const sql = await connection(role, max);
  try {
    return await work(sql);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code && unreachable.has(code))
      throw new CommandError(
        `The database cannot be reached (${code}).${findSetting("DATABASE_URL") ? "" : `\n${noDatabase}`}`,
      );
    throw error;
  } finally {
    // after a failure a query may still be pending on a broken connection, so do not wait for long
    await sql.end({ timeout: 1 });
  }
};

/**
 * Runs work with what manages a stage's rows as the given role.
 *
 * @throws as {@link requireStageDatabase} and {@link withConnection}.
 */
export const withDirectoryOf =
  <D>(role: LoginRole, open: (sql: postgres.Sql) => D) =>
  <T>({ stage }: { readonly stage?: string | undefined }, work: (directory: D) => Promise<T>): Promise<T> => {
    requireStageDatabase(stage, role);
    return withConnection(role, (sql) => work(open(sql)));
  };
