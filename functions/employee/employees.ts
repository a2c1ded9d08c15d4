import { listEmployees } from "#lib/employee/employee-system.ts";
import { useTicket } from "#lib/employee/ticket.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { ticketNotFound } from "#lib/errors/table.ts";
import { requireScope } from "#lib/http/caller.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readEmployees as route } from "#lib/routes/employee.ts";

/** Returns the matching employees, or the profile of the employee that a ticket was issued for. */
export const handler = endpoint(route).handler(async ({ query, account, sourceIp }) => {
  if (query.form === "list") return listEmployees({ nip: query.nip, name: query.nama });
  // a profile takes the scope of its ticket as well
  requireScope(account(), "employee:ticket");
  const employee = await useTicket(query.tiket, { accountId: account().accountId, address: sourceIp });
  if (!employee) throw new ApiError(ticketNotFound);
  return employee;
});
