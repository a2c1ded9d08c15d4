import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type postgres from "postgres";

const iterations = 4096;

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
