import postgres from "postgres";
import { findSetting, getSetting } from "#lib/config.ts";
import { Credentials, connectionTo, tlsSetting } from "#lib/db/credentials.ts";
import type { LoginRole } from "#lib/db/roles.ts";
import { secret } from "#lib/secrets/secret.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { readLocalSecret } from "../local/secrets/local-secret.ts";
import { CommandError } from "./command.ts";

const noDatabase = `There is no database to talk to. Start one with «npm run dev» in another terminal,
or set DATABASE_URL, or DATABASE_SECRET_ID with AWS_REGION and credentials.`;

const options = { fetch_types: false, onnotice: () => {} };

const connect = (credentials: Credentials, ssl: "verify-full" | false, max: number) =>
  postgres({ ...options, max, ...connectionTo(credentials), ssl });

/** The running system's own secret of the role; its store is a file beside the database. */
const localCredentials = (role: LoginRole): Credentials => {
  if (!findDevFile(localFolder)) throw new CommandError(noDatabase);
  return readLocalSecret(`database/${role}`);
};

/** Personal data crosses a network only encrypted, unless the address itself says otherwise. */
const needsTls = (url: string): boolean => {
  const parsed = URL.parse(url);
  if (!parsed)
    throw new CommandError("DATABASE_URL is no address such as postgres://user:password@host/database");
  const { hostname, searchParams } = parsed;
  return !["127.0.0.1", "localhost", "[::1]"].includes(hostname) && !searchParams.has("sslmode");
};

const connection = async (role: LoginRole, max: number): Promise<postgres.Sql> => {
  const url = findSetting("DATABASE_URL");
  if (url) return postgres(url, { ...options, max, ...(needsTls(url) && { ssl: "verify-full" as const }) });
  if (!findSetting("DATABASE_SECRET_ID")) return connect(localCredentials(role), false, max);
  return connect(await secret(() => getSetting("DATABASE_SECRET_ID"), Credentials)(), tlsSetting(), max);
};

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "CONNECT_TIMEOUT"]);

/**
 * Runs work on a connection: that of `DATABASE_URL`, of the secret `DATABASE_SECRET_ID`, or of the
 * running `npm run dev` as the given role.
 *
 * @throws CommandError that says how to give a database, when there is none.
 */
export const withConnection = async <T>(
  role: LoginRole,
  work: (sql: postgres.Sql) => Promise<T>,
  { max = 1 }: { max?: number } = {},
): Promise<T> => {
  const sql = await connection(role, max);
  try {
    return await work(sql);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code && unreachable.has(code))
      throw new CommandError(`The database does not answer (${code}).\n${noDatabase}`);
    throw error;
  } finally {
    // nothing is under way any more, unless the work failed: a connection that broke would be waited for in vain
    await sql.end({ timeout: 1 });
  }
};
