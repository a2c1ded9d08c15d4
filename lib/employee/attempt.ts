import { setTimeout } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { withDatabase } from "#lib/db/database.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { tooManyAttempts } from "#lib/errors/table.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";

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
      throw new ApiError(tooManyAttempts(row?.retryAfterSeconds ?? 1));
    await setTimeout(retryDelayMs);
  }
};

/**
 * Verifies an identity with a legacy system, rate-limited to 5 failures in 15 minutes per account and network, 30 an
 * hour per account from networks that are new to it, and 10 a minute per source. The attempt is reserved before the
 * call, so that concurrent callers share the limits.
 *
 * @param prove returns undefined when the system rejects the identity; an error of the system does not count.
 * @throws ApiError 429 with Retry-After.
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

/** Returns what is digested to count attempts for a name. Legacy systems compare names case-insensitively. */
export const nameTerm = (name: string): string => `name ${name.toLowerCase()}`;

/**
 * Returns the network that identifies a caller: the first 24 bits of an IPv4 address, or the first 56 bits of an IPv6
 * address, because one customer often has all the rest (RFC 6177).
 *
 * @param address as seen by the gateway; any other text is returned unchanged.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed
    .toByteArray()
    .slice(0, parsed instanceof ipaddr.IPv6 ? 7 : 3)
    .join(".");
};
