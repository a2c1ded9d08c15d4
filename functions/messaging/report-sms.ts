import { prepare } from "#lib/cached.ts";
import { channelAccounts } from "#lib/channels/accounts.ts";
import { takeReports } from "#lib/channels/sms/webhook.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { reportSms as route } from "#lib/routes/webhooks.ts";

prepare(channelAccounts);
prepareMessenger();

/** Takes what an SMS gateway posts: JSON, a list or a form, whatever its Content-Type says. */
export const handler = endpoint(route).handler(async ({ params, headers, query, body, requestId }) => {
  await takeReports({ ...params, ...headers, query, body }, requestId);
  return { status: true };
});
