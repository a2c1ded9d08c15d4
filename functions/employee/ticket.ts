import { prepareDatabase } from "#lib/db/database.ts";
import { issueTicket } from "#lib/employee/ticket.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { ticketRefused } from "#lib/errors/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { getTicket as route } from "#lib/routes/employee.ts";
import { preparePepper } from "#lib/secrets/pepper.ts";

prepareDatabase();
preparePepper();

/** Gets a session ticket from the employee system; wrong passphrases are rate-limited like wrong logins. */
export const handler = endpoint(route).handler(async ({ query: { username, pass }, account, sourceIp }) => {
  const ticket = await issueTicket(username, pass, { accountId: account().accountId, address: sourceIp });
  if (!ticket) throw new ApiError(ticketRefused);
  return ticket;
});
