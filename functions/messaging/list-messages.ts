import { endpoint } from "#lib/http/endpoint.ts";
import { listMessages as list, prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { listMessages as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Lists the sender's messages in the order of acceptance, a page at a time. */
export const handler = endpoint(route).handler(async ({ query, sender, requestId }) => {
  const { messages, next } = await list({ sender: apiSender(sender().username), ...query }, requestId);
  return { status: true, data: messages, next };
});
