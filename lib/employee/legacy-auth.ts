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
 */
import * as z from "zod/mini";
import type { AccountScope } from "#lib/routes/route.ts";
import { invalidResponse, proofTimeoutMs, sendRequest } from "./upstream.ts";

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
  user: z.object({ id: z.string().check(z.minLength(1)), access: z.array(z.string()) }),
});
const Rejected = z.object({ status: z.literal("failed") });

/**
 * Returns the account of a username and password, or undefined when the legacy system rejects them.
 *
 * @throws Fault 502, 504 when the system fails or does not respond.
 */
export const authenticate = async (
  username: string,
  password: string,
): Promise<LegacyAccount | undefined> => {
  const form = { username, password };
  const question = { method: "POST", form, timeoutMs: proofTimeoutMs } as const;
  const { status, json } = await sendRequest("LEGACY_AUTH_URL", question);
  if ([200, 401, 403].includes(status) && Rejected.safeParse(json).success) return undefined;
  const accepted = Accepted.safeParse(json);
  if (status !== 200 || !accepted.success)
    throw invalidResponse("LEGACY_AUTH_URL", `status ${status}, neither accepted nor rejected`);
  const { id, access } = accepted.data.user;
  return {
    id,
    scopes: Object.keys(scopeOf).flatMap((name) => (access.includes(name) ? (scopeOf[name] ?? []) : [])),
  };
};
