import { endpoint } from "#lib/http/endpoint.ts";
import { prepareMessenger, submit } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { sendMessage as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Queues a text message. It is stored before the answer; `GET /messages/{id}` returns its state. */
export const handler = endpoint(route).handler(async ({ body, headers, sender, requestId }) => {
  const { id } = await submit(
    {
      sender: apiSender(sender().username),
      kind: "text",
      phone: body.phone,
      text: body.message,
      reply_to: body.reply_message_id,
      is_forwarded: body.is_forwarded,
      duration_seconds: body.duration,
      ...headers,
    },
    { requestId },
  );
  return { status: true, data: { id, status: "PENDING", message: "The message is queued for sending" } };
});
