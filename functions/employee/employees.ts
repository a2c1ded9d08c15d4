import { listEmployees } from "#lib/employee/employee-system.ts";
import { useTicket } from "#lib/employee/ticket.ts";
import { Fault } from "#lib/faults/fault.ts";
import { noScope, ticketNotFound } from "#lib/faults/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readEmployees as route } from "#lib/routes/employee.ts";
import type { AccountScope } from "#lib/routes/route.ts";

/** A profile takes the scope of its ticket as well. */
const ticketScope: AccountScope = "employee:ticket";

/** Returns the matching employees, or the profile of the employee that a ticket was issued for. */
export const handler = endpoint(route).handler(async ({ query, account, sourceIp }) => {
  if (query.form === "list") return listEmployees({ nip: query.nip, name: query.nama });
  const { accountId, scopes } = account();
  if (!scopes.includes(ticketScope)) throw new Fault(noScope(ticketScope));
  const employee = await useTicket(query.tiket, { accountId, address: sourceIp });
  if (!employee) throw new Fault(ticketNotFound);
  return employee;
});
