import { findEmployee, listEmployees } from "#lib/employee/employee-system.ts";
import { Fault } from "#lib/faults/fault.ts";
import { ticketNotFound } from "#lib/faults/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { readEmployees as route } from "#lib/routes/employee.ts";

/** Returns the matching employees, or the profile of the employee that a ticket was issued for. */
export const handler = endpoint(route).handler(async ({ query }) => {
  if (query.form === "list") return listEmployees({ nip: query.nip, name: query.nama });
  const employee = await findEmployee(query.tiket);
  if (!employee) throw new Fault(ticketNotFound);
  return employee;
});
