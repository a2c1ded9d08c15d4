import { randomUUID } from "node:crypto";
import type * as z from "zod/mini";
import { channelsSchema } from "#lib/channels/settings.ts";
import { Credentials } from "#lib/db/credentials.ts";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { mintToken } from "#lib/opaque-token.ts";
import * as schemas from "../schemas.ts";

/**
 * How Secrets Manager changes a secret, or why it must not. `password`: the database role sets its own new
 * password. `overlap`: a new value is minted; readers accept the previous one until the next rotation.
 */
type Rotation =
  | { readonly everyDays: number; readonly method: "password" | "overlap" }
  | { readonly never: string };

interface Row {
  /** Environment variable that gives a function the secret's full name. */
  readonly variable: string;
  readonly schema: () => z.ZodMiniType;
  /** Makes a value: the first one, and with `overlap` each later one. Secrets Manager generates those of logins. */
  readonly mint?: () => unknown;
  readonly rotation: Rotation;
}

const pepper = {
  variable: "PEPPER_SECRET_ID",
  schema: schemas.pepperSchema,
  mint: () => ({ version: 1, pepper: mintToken("") }),
} as const;

/** Secrets whose first value a deployment makes. */
const minted = {
  "audit-pepper": {
    ...pepper,
    rotation: {
      never:
        "Digests of two peppers cannot be compared: an operator changes it, with a new version, and keeps the old one as long as the audit",
    },
  },
  "attempt-pepper": {
    ...pepper,
    rotation: { never: "A new value would reset the rate limit on guessing; it protects data of 30 days" },
  },
  "opt-out-pepper": { ...pepper, rotation: { never: "With a new value no stored opt-out would be found" } },
  "token-key": {
    variable: "TOKEN_KEY_SECRET_ID",
    schema: schemas.tokenKeySchema,
    mint: () => ({ kty: "oct", alg: "HS256", kid: randomUUID(), k: mintToken("") }),
    rotation: { everyDays: 30, method: "overlap" },
  },
  "messaging-basic": {
    variable: "BASIC_SECRET_ID",
    schema: schemas.basicSchema,
    mint: () => ({ credentials: [{ username: "city-backend", password: mintToken("") }] }),
    rotation: { never: "An operator adds a second credential, moves the callers, and removes the first" },
  },
  "messenger-token": {
    variable: "MESSENGER_TOKEN_SECRET_ID",
    schema: schemas.messengerTokenSchema,
    mint: () => ({ token: mintToken("") }),
    rotation: { everyDays: 30, method: "overlap" },
  },
  "messenger-key": {
    variable: "MESSENGER_KEY_SECRET_ID",
    schema: schemas.messengerKeySchema,
    mint: () => ({ key: mintToken("") }),
    rotation: { never: "It encrypts the WhatsApp link: the phone would have to be paired again" },
  },
  "messenger-channels": {
    variable: "MESSENGER_CHANNELS_SECRET_ID",
    schema: channelsSchema,
    mint: () => ({ accounts: {} }),
    rotation: {
      never: "It holds credentials that platforms and gateways have given: an operator enters them",
    },
  },
  "messenger-console": {
    variable: "CONSOLE_SECRET_ID",
    schema: schemas.consoleSchema,
    mint: () => ({ users: [] }),
    rotation: {
      never: "It holds digests of the operators' passwords: npm run city -- operators replaces them",
    },
  },
} as const satisfies Readonly<Record<string, Row>>;

/** For the administrator and each login role. Only CloudFormation knows the database's address, which the secret contains too. */
const login = {
  variable: "DATABASE_SECRET_ID",
  schema: () => Credentials,
  rotation: { everyDays: 30, method: "password" },
} as const satisfies Row;
const logins = Object.fromEntries(
  ["admin", ...Object.keys(loginRoles)].map((role) => [`database/${role}`, login]),
) as Readonly<Record<`database/${LoginRole | "admin"}`, typeof login>>;
/** The messenger reads it besides its own. */
const consoleLogin = {
  "database/console": { ...login, variable: "CONSOLE_DATABASE_SECRET_ID" },
} as const satisfies Readonly<Record<string, Row>>;

/**
 * Every secret of a stage, by its name within the stage, except the administrator's of an existing database. Each
 * function's row in `lib/routes/` names the secrets that it reads.
 *
 * Functions that only read import a schema, and of this file no more than types: the rest stays out of bundles.
 */
export const secretTable = { ...minted, ...logins, ...consoleLogin };

export type SecretName = keyof typeof secretTable;
export type SecretValue<N extends SecretName> = z.infer<ReturnType<(typeof secretTable)[N]["schema"]>>;

/** The secrets that a deployment fills. */
export const mintedSecrets = Object.keys(minted) as (keyof typeof minted)[];

type Variable = (typeof secretTable)[SecretName]["variable"];
/** Secrets that a function reads: environment variable → name of the secret. Its role may read exactly these. */
export type Secrets = {
  readonly [V in Variable]?: {
    [N in SecretName]: (typeof secretTable)[N]["variable"] extends V ? N : never;
  }[SecretName];
};
