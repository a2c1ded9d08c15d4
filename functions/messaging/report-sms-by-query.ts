import { prepare } from "#lib/cached.ts";
import { channelAccounts } from "#lib/channels/accounts.ts";
import { takeReports } from "#lib/channels/sms/webhook.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { reportSmsByQuery as route } from "#lib/routes/webhooks.ts";

prepare(channelAccounts);
prepareMessenger();

/** Takes the report of an SMS gateway that sends its fields in the query. */
export const handler = endpoint(route).handler(async ({ params, headers, query, requestId }) => {
  await takeReports({ ...params, ...headers, query }, requestId);
  return { status: true };
});
