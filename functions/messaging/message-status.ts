import { endpoint } from "#lib/http/endpoint.ts";
import { Fault } from "#lib/http/fault.ts";
import { findMessage, prepareMessenger } from "#lib/messaging/messenger-client.ts";
import { readMessage as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Tells what became of a message. */
export const handler = endpoint(route).handler(async ({ params }) => {
  const data = await findMessage(params.id);
  if (!data) throw new Fault(404, "message_not_found", "There is no message with this id");
  return { status: true, data };
});
