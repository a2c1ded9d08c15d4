import { setTimeout } from "node:timers/promises";
import { withDatabase } from "#lib/db/database.ts";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyAttempts } from "#lib/faults/table.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { networkOf } from "./network.ts";

/** An attempt to prove an identity: for which account, and from where. */
interface Subject {
  /** The system: each has its own accounts. */
  readonly kind: "login" | "ticket";
  readonly account: string;
  /** The source: guesses from one source over many accounts are counted too. */
  readonly from: { readonly address: string } | { readonly accountId: string };
}

/**
 * While pending attempts fill the window, the reservation is retried. With `proofTimeoutMs` this takes less than the
 * 10 s that a caller waits.
 */
const retryDelayMs = 50;
const maxRetryMs = 4_000;

interface Reservation {
  attemptId: number | null;
  retryAfterSeconds: number | null;
}

const reserve = async ({ kind, account, from }: Subject): Promise<number> => {
  const { digest } = await digestTerm();
  // legacy systems compare names case-insensitively
  const accountDigest = digest(`${kind} ${account.toLowerCase()}`);
  const place = "address" in from ? `address ${networkOf(from.address)}` : `account ${from.accountId}`;
  const addressDigest = digest(place);
  const until = Date.now() + maxRetryMs;
  for (;;) {
    const [row] = await withDatabase(
      (sql) => sql<Reservation[]>`
        select attempt_id as "attemptId", retry_after_seconds as "retryAfterSeconds"
        from employee.reserve_attempt(${accountDigest}, ${addressDigest})`,
    );
    if (row?.attemptId) return row.attemptId;
    // without failures, attempts that are under way fill the window
    if (row?.retryAfterSeconds || Date.now() >= until)
      throw new Fault(tooManyAttempts(row?.retryAfterSeconds ?? 1));
    await setTimeout(retryDelayMs);
  }
};

/**
 * Verifies an identity with a legacy system, rate-limited to 5 failures in 15 minutes per account and 10 a minute per
 * source. The attempt is reserved before the call, so that concurrent callers share the limit.
 *
 * @param prove returns undefined when the system rejects the identity; an error of the system does not count.
 * @throws Fault 429 with Retry-After.
 */
export const throttled = async <T>(subject: Subject, prove: () => Promise<T | undefined>) => {
  const id = await reserve(subject);
  const proof = await prove().catch(async (error: unknown) => {
    await withDatabase((sql) => sql`select employee.release_attempt(${id})`).catch(() => {});
    throw error;
  });
  if (proof === undefined) await withDatabase((sql) => sql`select employee.fail_attempt(${id})`);
  else await withDatabase((sql) => sql`select employee.pass_attempt(${id})`);
  return proof;
};
