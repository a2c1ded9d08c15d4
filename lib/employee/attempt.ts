import { setTimeout } from "node:timers/promises";
import { withDatabase } from "#lib/db/database.ts";
import { tooManyRequests } from "#lib/http/fault.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { networkOf } from "./network.ts";

/** Whose identity is to be proved, and from where it is tried. */
interface Subject {
  /** Where: accounts of one system are not those of another. */
  readonly kind: "login" | "ticket";
  readonly account: string;
  /** From where: guesses from one place over many accounts are counted too. */
  readonly from: { readonly address: string } | { readonly accountId: string };
}

/**
 * While attempts that wait for their answer fill the window, ask again after this time, for so long: with
 * `proofTimeoutMs` less than the 10 s that a caller has.
 */
const pollMs = 50;
const patienceMs = 4_000;

interface Reservation {
  attemptId: number | null;
  retryAfterSeconds: number | null;
}

const refuse = (retryAfterSeconds: number | undefined) =>
  retryAfterSeconds === undefined
    ? tooManyRequests("Too many attempts at once; try again in a moment", 1)
    : tooManyRequests("Too many failed attempts; wait and try again", retryAfterSeconds);

const reserve = async ({ kind, account, from }: Subject): Promise<number> => {
  const { digest } = await digestTerm();
  // old systems compare names without case
  const accountDigest = digest(`${kind} ${account.toLowerCase()}`);
  const place = "address" in from ? `address ${networkOf(from.address)}` : `account ${from.accountId}`;
  const addressDigest = digest(place);
  const until = Date.now() + patienceMs;
  for (;;) {
    const [row] = await withDatabase(
      (sql) => sql<Reservation[]>`
        select attempt_id as "attemptId", retry_after_seconds as "retryAfterSeconds"
        from employee.reserve_attempt(${accountDigest}, ${addressDigest})`,
    );
    if (row?.attemptId) return row.attemptId;
    if (row?.retryAfterSeconds || Date.now() >= until) throw refuse(row?.retryAfterSeconds ?? undefined);
    await setTimeout(pollMs);
  }
};

/**
 * Asks an old system whether an identity is proved, as often as the throttle lets: 5 failures in 15 minutes
 * for an account, 10 a minute from one place. The attempt is reserved before the question, so that callers
 * at the same time share the same limit.
 *
 * @param prove answers undefined when the system refuses; a failure of the system does not count.
 * @throws Fault 429 with the time after which it may be tried again.
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
