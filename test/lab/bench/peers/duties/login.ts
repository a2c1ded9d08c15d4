import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { SignJWT } from "jose";
import * as z from "zod";
import { database } from "./database.ts";
import { type Duty, describePlainly, Problem } from "./duty.ts";
import { authenticate } from "./legacy-login.ts";
import { readSecret } from "./secret.ts";

const pepper = readSecret("PEPPER_SECRET_ID", z.object({ pepper: z.string().min(32) }));
const tokenKey = readSecret("TOKEN_KEY_SECRET_ID", z.object({ kid: z.string(), k: z.string() }));

const usernameError =
  "username must be a platform user or NIP: 1 to 64 letters, digits or . _ @ + - characters, without spaces";
const passwordError = "password must be a string of 1 to 256 characters";

const Login = z.object(
  {
    username: z.string({ error: usernameError }).regex(/^[A-Za-z0-9._@+-]{1,64}$/, { error: usernameError }),
    password: z
      .string({ error: passwordError })
      .min(1, { error: passwordError })
      .max(256, { error: passwordError })
      .refine((text) => text.isWellFormed() && !text.includes("\0"), { error: passwordError }),
  },
  { error: 'The body must be a JSON object: {"username": "…", "password": "…"}' },
);

const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed
    .toByteArray()
    .slice(0, parsed.kind() === "ipv6" ? 7 : 3)
    .join(".");
};

const digestWith = async (term: string) =>
  createHmac("sha256", (await pepper).pepper)
    .update(term)
    .digest();

interface Reservation {
  attemptId: number | null;
  retryAfterSeconds: number | null;
}

/** Reserves an attempt among those that the limits allow. @throws Problem 429 */
const reserve = async (account: Buffer, network: Buffer): Promise<number> => {
  const sql = await database;
  for (const until = Date.now() + 4_000; ; await setTimeout(50)) {
    const [row] = await sql<Reservation[]>`
      select attempt_id as "attemptId", retry_after_seconds as "retryAfterSeconds"
      from employee.reserve_attempt(${account}, ${network}, ${network})`;
    if (row?.attemptId) return row.attemptId;
    if (row?.retryAfterSeconds || Date.now() >= until)
      throw new Problem(429, "too_many_attempts", "Too many attempts; try again later", {
        retryAfterSeconds: row?.retryAfterSeconds ?? 1,
      });
  }
};

const lifetimeSeconds = 900;

const sign = async (accountId: string, scope: string): Promise<string> => {
  const { kid, k } = await tokenKey;
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid })
    .setIssuer("municipal-integration-api")
    .setAudience("municipal-integration-api/v1")
    .setSubject(accountId)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setNotBefore(now - 5)
    .setExpirationTime(now + lifetimeSeconds)
    .sign(Buffer.from(k, "base64url"));
};

/** Exchanges the credentials of an account of the old system for a session. */
export const duty: Duty<z.infer<typeof Login>, undefined> = {
  name: "employee/login",
  method: "POST",
  path: "/v1/simpeg/auth/login",
  maxBodyBytes: 64 * 1024,
  body: Login,
  authenticate: async () => undefined,
  describe: describePlainly,
  async answer({ body: { username, password }, sourceIp }) {
    const startedAt = performance.now();
    const name = await digestWith(`name ${username.toLowerCase()}`);
    const attempt = await reserve(name, await digestWith(`network ${networkOf(sourceIp)}`));
    const sql = await database;
    const account = await authenticate(username, password).catch(async (error: unknown) => {
      await sql`select employee.release_attempt(${attempt})`;
      throw error;
    });
    if (!account) {
      await sql`select employee.fail_attempt(${attempt})`;
      // the time of a rejection must not tell why
      await setTimeout(500 - ((performance.now() - startedAt) % 500));
      throw new Problem(401, "unauthorized", "Username or password is wrong");
    }
    await sql`select employee.pass_attempt(${attempt})`;
    const { id, scope } = account;
    const refreshToken = `mir_${randomBytes(32).toString("base64url")}`;
    const digest = createHash("sha256").update(refreshToken).digest();
    await sql`select employee.start_session(${id}, ${name}, ${scope}, ${digest})`;
    return {
      token: await sign(id, scope),
      expires_in: lifetimeSeconds,
      refresh_token: refreshToken,
      scope,
    };
  },
};
