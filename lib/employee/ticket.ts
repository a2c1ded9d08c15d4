import { withDatabase } from "#lib/db/database.ts";
import type { EmployeeDetail, Ticket } from "#lib/routes/employee.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { throttled } from "./attempt.ts";
import { findEmployee, findTicket } from "./employee-system.ts";

/** The account that requests or uses a ticket, and from where. */
interface Holder {
  readonly accountId: string;
  readonly address: string;
}

const digestTicket = async (ticket: string) => (await digestTerm()).digest(`ticket ${ticket}`);

/**
 * Returns a ticket that only its holder can use, or undefined when the employee system rejects NIP and passphrase.
 *
 * @throws ApiError 429 after too many failures.
 */
export const issueTicket = async (
  nip: string,
  passphrase: string,
  holder: Holder,
): Promise<Ticket | undefined> => {
  const ticket = await throttled({ name: nip, ...holder }, () => findTicket(nip, passphrase));
  if (!ticket) return undefined;
  const digest = await digestTicket(ticket.tiket);
  await withDatabase((sql) => sql`select employee.store_ticket(${digest}, ${holder.accountId})`);
  return ticket;
};

/**
 * Returns the profile of the employee that a ticket was issued for, or undefined for an unknown or expired ticket and
 * for one that was issued to another account.
 *
 * @throws ApiError 429 after too many failures.
 */
export const useTicket = (ticket: string, holder: Holder): Promise<EmployeeDetail | undefined> =>
  throttled(holder, async () => {
    const digest = await digestTicket(ticket);
    const [row] = await withDatabase(
      (sql) => sql<{ owns: boolean }[]>`select employee.owns_ticket(${digest}, ${holder.accountId}) as owns`,
    );
    return row?.owns ? findEmployee(ticket) : undefined;
  });
