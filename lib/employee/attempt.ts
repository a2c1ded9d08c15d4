import { setTimeout } from "node:timers/promises";
import { withDatabase } from "#lib/db/database.ts";
import { Fault } from "#lib/faults/fault.ts";
import { tooManyAttempts } from "#lib/faults/table.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { nameTerm } from "./name-term.ts";
import { networkOf } from "./network.ts";

/** An attempt to prove an identity: for which account, and from where. */
interface Subject {
  /** Username or NIP, whose password is also the passphrase for a ticket; none for the use of a ticket. */
  readonly name?: string;
  readonly address: string;
  /** The account that makes the attempt; at a login there is none, and the network counts as the source. */
  readonly accountId?: string;
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

const reserve = async ({ name, address, accountId }: Subject): Promise<number> => {
  const { digest } = await digestTerm();
  const account = digest(name === undefined ? undefined : nameTerm(name));
  const network = digest(`network ${networkOf(address)}`);
  const source = accountId === undefined ? network : digest(`account ${accountId}`);
  const until = Date.now() + maxRetryMs;
  for (;;) {
    const [row] = await withDatabase(
      (sql) => sql<Reservation[]>`
        select attempt_id as "attemptId", retry_after_seconds as "retryAfterSeconds"
        from employee.reserve_attempt(${account}, ${network}, ${source})`,
    );
    if (row?.attemptId) return row.attemptId;
    // without failures, attempts that are under way fill the window
    if (row?.retryAfterSeconds || Date.now() >= until)
      throw new Fault(tooManyAttempts(row?.retryAfterSeconds ?? 1));
    await setTimeout(retryDelayMs);
  }
};

/**
 * Verifies an identity with a legacy system, rate-limited to 5 failures in 15 minutes per account and network, 30 an
 * hour per account from networks that are new to it, and 10 a minute per source. The attempt is reserved before the
 * call, so that concurrent callers share the limits.
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
