import { randomBytes } from "node:crypto";
import { newPassword } from "#lib/db/password.ts";
import { mintTokenKey } from "#lib/employee/token-key.ts";
import { mintSealingKey } from "#lib/encryption.ts";
import type { BasicCredentials } from "#lib/messaging/basic-auth.ts";

const inventPepper = () => ({ version: 1, pepper: randomBytes(32).toString("base64url") });

const inventCredentials = (username: string) => (): BasicCredentials => ({
  credentials: [{ username, password: newPassword() }],
});

/** The first value of each secret that no database role has, by the secret's name within its stage. */
export const inventions = {
  "audit-pepper": inventPepper,
  "attempt-pepper": inventPepper,
  "opt-out-pepper": inventPepper,
  "token-key": mintTokenKey,
  "messaging-basic": inventCredentials("city-backend"),
  "messenger-token": () => ({ token: newPassword() }),
  "messenger-key": mintSealingKey,
  "messenger-console": inventCredentials("operator"),
} satisfies Readonly<Record<string, () => unknown>>;
