import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import postgres from "postgres";
import { type Credentials, connectionTo, tlsSetting } from "./credentials.ts";

const iterations = 4096;
const INVALID_PASSWORD = "28P01";
const connectTimeoutSeconds = 5;

/** A new password for a machine: 192 bits, in letters, digits, `-` and `_`. */
export const newPassword = (): string => randomBytes(24).toString("base64url");

/**
 * What PostgreSQL stores of a password (RFC 5803). Sending this instead of the password keeps it out of
 * the statement, and so out of the server's log.
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

/** Does work on one connection of its own, encrypted and verified unless the settings say otherwise. */
export const withLogin = async <T>(
  credentials: Credentials,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({
    ...connectionTo(credentials),
    ssl: tlsSetting(),
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: connectTimeoutSeconds,
    onnotice: () => {},
  });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
};

/** Whether the server takes these credentials. @throws Error when it refuses for another reason, or is away. */
export const logsIn = (credentials: Credentials): Promise<boolean> =>
  withLogin(credentials, async (sql) => {
    try {
      await sql`select 1`;
      return true;
    } catch (error) {
      if (error instanceof postgres.PostgresError && error.code === INVALID_PASSWORD) return false;
      throw error;
    }
  });
