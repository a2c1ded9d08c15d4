import * as z from "zod";
import { Problem } from "./duty.ts";
import { setting } from "./secret.ts";

const Accepted = z.object({
  status: z.literal("success"),
  user: z.object({ id: z.string().min(1), access: z.array(z.string()) }),
});
const Rejected = z.object({ status: z.literal("failed") });

const scopes = { pegawai: "employee:read", tiket: "employee:ticket" } as const;

interface Account {
  readonly id: string;
  readonly scope: string;
}

/** Returns the account of a username and password, or undefined when the old system rejects them. @throws Problem 502, 504 */
export const authenticate = async (username: string, password: string): Promise<Account | undefined> => {
  const failed = (cause: unknown) =>
    cause instanceof Error && cause.name === "TimeoutError"
      ? new Problem(504, "upstream_timeout", "The old system did not respond in time")
      : new Problem(502, "upstream_failed", "The old system failed");
  const response = await fetch(setting("LEGACY_AUTH_URL"), {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams({ username, password }),
    redirect: "manual",
    signal: AbortSignal.timeout(5_000),
  }).catch((error: unknown) => {
    throw failed(error);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if ([200, 401, 403].includes(response.status) && Rejected.safeParse(answer).success) return undefined;
  const accepted = Accepted.safeParse(answer);
  if (response.status !== 200 || !accepted.success) throw failed(accepted.error);
  const { id, access } = accepted.data.user;
  const granted = Object.entries(scopes).filter(([name]) => access.includes(name));
  return { id, scope: granted.map(([, scope]) => scope).join(" ") };
};
