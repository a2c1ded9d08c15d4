import * as z from "zod/mini";
import { hashPattern } from "#lib/password-hash.ts";

/*
 * The values of the secrets. Each schema is made by a function, so that a bundle contains only those it reads:
 * zod's calls at module level are never tree-shaken.
 */

export const httpUrl = () => z.string().check(z.regex(/^https?:\/\/[^\s]+$/), z.maxLength(2_048));

/** A text that is not empty. */
export const textOf = (maxLength = 2_048) => z.string().check(z.minLength(1), z.maxLength(maxLength));

/** `version` is stored beside each digest, so that the pepper can change and old rows stay comparable. */
export const pepperSchema = () => z.object({ version: z.int(), pepper: z.string().check(z.minLength(32)) });

export const kidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The key of access tokens: 256 bits for HMAC-SHA-256, as a JWK (RFC 7517; RFC 7518, 3.2 and 6.4). */
export const tokenKeySchema = () =>
  z.object({
    kty: z.literal("oct"),
    alg: z.literal("HS256"),
    kid: z.string().check(z.regex(kidPattern)),
    k: z.string().check(z.regex(/^[\w-]{43,}$/)),
  });

/** Two credentials are valid at once while callers move from one to the other. */
const credentialsSchema = <T>(credential: z.ZodMiniType<T>) =>
  z.object({ credentials: z.array(credential).check(z.minLength(1), z.maxLength(2)) });

/** A colon would end the username (RFC 7617, 2); a password may contain colons. */
export const basicSchema = () =>
  credentialsSchema(
    z.object({
      username: z.string().check(z.regex(/^[^:\p{Cc}]+$/u)),
      password: z.string().check(z.regex(/^\P{Cc}+$/u)),
    }),
  );

/** The operators of the console with digests of their passwords, or none if they log in at an issuer. */
export const consoleSchema = () =>
  z.object({
    users: z.array(
      z.object({
        username: z.string().check(z.minLength(1), z.maxLength(200)),
        role: z.enum(["viewer", "operator", "admin"]),
        hash: z.string().check(z.regex(hashPattern)),
      }),
    ),
    /** Of the console at the issuer, if it is no public client. */
    clientSecret: z.optional(z.string().check(z.minLength(1))),
  });

/** Authenticates the functions that call the messenger. */
export const messengerTokenSchema = () => z.object({ token: z.string().check(z.minLength(32)) });

/** Encrypts what the messenger stores: 256 bits, base64url. */
export const messengerKeySchema = () => z.object({ key: z.string().check(z.regex(/^[\w-]{43}$/)) });
