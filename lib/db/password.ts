import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import postgres from "postgres";
import { type Credentials, driverOptions } from "./credentials.ts";
import { tooManyConnections } from "./outage.ts";

const iterations = 4096;
const INVALID_PASSWORD = "28P01";
const connectTimeoutSeconds = 5;

/**
 * Computes the SCRAM verifier that PostgreSQL stores (RFC 5803). Sending it instead of the password keeps the
 * password out of the statement, and so out of the server's log.
 */
const scramVerifier = (password: string): string => {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const hmac = (label: string) => createHmac("sha256", salted).update(label).digest();
  const stored = createHash("sha256").update(hmac("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${stored}:${hmac("Server Key").toString("base64")}`;
};

/** Sets the password of a login role. @param password ASCII: other characters would need SASLprep. */
export const setPassword = async (sql: postgres.Sql, role: string, password: string): Promise<void> => {
  await sql.unsafe(`alter role ${role.replace(/[^a-z_]/g, "")} password '${scramVerifier(password)}'`);
};

/** Runs `work` on a separate connection, encrypted and verified unless the settings disable it. */
export const withLogin = async <T>(
  credentials: Credentials,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({
    ...driverOptions(credentials),
    max: 1,
    prepare: false,
    connect_timeout: connectTimeoutSeconds,
  });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
};

/** Tells whether the server accepts these credentials. @throws Error for any other failure than a wrong password. */
export const logsIn = (credentials: Credentials): Promise<boolean> =>
  withLogin(credentials, async (sql) => {
    try {
      await sql`select 1`;
      return true;
    } catch (error) {
      if (!(error instanceof postgres.PostgresError)) throw error;
      if (error.code === INVALID_PASSWORD) return false;
      // the server counts a role's connections once its password was right
      if (error.code === tooManyConnections && error.routine === "InitializeSessionUserId") return true;
      throw error;
    }
  });
