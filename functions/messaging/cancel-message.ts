import { ApiError } from "#lib/errors/api-error.ts";
import { messageNotFound } from "#lib/errors/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { cancelMessage as cancel, prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { cancelMessage as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Cancels a message that waits, so that it is never sent. */
export const handler = endpoint(route).handler(async ({ params, sender, requestId }) => {
  const data = await cancel(params.id, apiSender(sender().username), requestId);
  if (!data) throw new ApiError(messageNotFound);
  return { status: true, data };
});
