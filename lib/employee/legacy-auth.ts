/*
 * The legacy authentication system, as this product expects it, at LEGACY_AUTH_URL. To connect a system with another
 * protocol, change only this file.
 *
 *   POST <LEGACY_AUTH_URL>
 *   Content-Type: application/x-www-form-urlencoded
 *
 *   username=<platform user or NIP>&password=<password>
 *
 * Accepted: 200 and
 *   {"status": "success", "user": {"id": "1042", "access": ["pegawai", "tiket"]}}
 * `id` identifies the account permanently and becomes the token's `sub`. `access` lists its permissions: `pegawai` to
 * list and read employees, `tiket` to get session tickets. Other entries are ignored.
 *
 * Rejected: 200, 401 or 403, the same for an unknown account, a wrong password, and a kind of username that the
 * account is not configured for:
 *   {"status": "failed"}
 *
 * Anything else is a failure of the system: the caller gets 502, and the attempt is not counted.
 *
 *   GET <LEGACY_AUTH_URL>?account=<id>
 *
 * asks at a refresh whether an account is still open, without its password. Open: 200 and the same as an accepted login.
 * Closed, or no account has this ID: 200 and
 *   {"status": "closed"}
 * A system without this question answers 404, 405 or, with a status below 500, {"status": "failed"}: a session then
 * lasts a day, because only a login can tell. Anything else is a failure of the system.
 */
import * as z from "zod/mini";
import type { Answer } from "#lib/http-client.ts";
import type { AccountScope } from "#lib/routes/route.ts";
import { invalidResponse, listOf, proofTimeoutMs, sendRequest } from "./upstream.ts";

export interface LegacyAccount {
  readonly id: string;
  readonly scopes: readonly AccountScope[];
}

const scopeOf: Readonly<Record<string, AccountScope>> = {
  pegawai: "employee:read",
  tiket: "employee:ticket",
};

const Accepted = z.object({
  status: z.literal("success"),
  user: z.object({ id: z.string().check(z.minLength(1)), access: listOf(z.string()) }),
});
const Rejected = z.object({ status: z.literal("failed") });
const Closed = z.object({ status: z.literal("closed") });

/** @throws ApiError 502 unless the account is accepted. */
const readAccount = ({ status, json }: Answer): LegacyAccount => {
  const accepted = Accepted.safeParse(json);
  if (status !== 200 || !accepted.success)
    throw invalidResponse("LEGACY_AUTH_URL", `status ${status}, neither accepted nor rejected`);
  const { id, access } = accepted.data.user;
  return {
    id,
    scopes: Object.keys(scopeOf).flatMap((name) => (access.includes(name) ? (scopeOf[name] ?? []) : [])),
  };
};

/**
 * Returns the account of a username and password, or undefined when the legacy system rejects them.
 *
 * @throws ApiError 502, 504 when the system fails or does not respond.
 */
export const authenticate = async (
  username: string,
  password: string,
): Promise<LegacyAccount | undefined> => {
  const form = { username, password };
  const question = { method: "POST", form, timeoutMs: proofTimeoutMs } as const;
  const answer = await sendRequest("LEGACY_AUTH_URL", question);
  if ([200, 401, 403].includes(answer.status) && Rejected.safeParse(answer.json).success) return undefined;
  return readAccount(answer);
};

/** With the database, less than the 10 s that a caller waits; a check that fails is repeated at the next refresh. */
const checkTimeoutMs = 2_500;

/**
 * Returns the account with this ID as it is now, "closed", or "unsupported" if the legacy system cannot tell.
 *
 * @throws ApiError 502, 504 when the system fails or does not respond.
 */
export const checkAccount = async (id: string): Promise<LegacyAccount | "closed" | "unsupported"> => {
  const question = { method: "GET", query: { account: id }, timeoutMs: checkTimeoutMs } as const;
  const answer = await sendRequest("LEGACY_AUTH_URL", question);
  if (answer.status === 200 && Closed.safeParse(answer.json).success) return "closed";
  const isRejected = answer.status < 500 && Rejected.safeParse(answer.json).success;
  if (isRejected || [404, 405].includes(answer.status)) return "unsupported";
  const account = readAccount(answer);
  if (account.id !== id) throw invalidResponse("LEGACY_AUTH_URL", "the account has another id");
  return account;
};
