import { prepare } from "#lib/cached.ts";
import { channelAccounts, listCloudApiAccounts } from "#lib/channels/accounts.ts";
import { readNotification } from "#lib/channels/cloud-api/webhook.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { passOn, prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { receiveCloudApi as route } from "#lib/routes/webhooks.ts";

prepare(channelAccounts);
prepareMessenger();

/** Passes statuses and replies on to the messenger; the platform repeats for days what gets another answer than 200. */
export const handler = endpoint(route).handler(async ({ headers, body, requestId }) => {
  const accounts = await listCloudApiAccounts();
  for (const events of readNotification(body, headers["x-hub-signature-256"], accounts))
    await passOn(events, requestId);
  return { status: true };
});
