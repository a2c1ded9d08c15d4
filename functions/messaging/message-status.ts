import { ApiError } from "#lib/errors/api-error.ts";
import { messageNotFound } from "#lib/errors/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { findMessage, prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { readMessage as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Returns the state of one of the sender's messages. */
export const handler = endpoint(route).handler(async ({ params, sender, requestId }) => {
  const data = await findMessage(params.id, apiSender(sender().username), requestId);
  if (!data) throw new ApiError(messageNotFound);
  return { status: true, data };
});
