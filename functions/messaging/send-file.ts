import { multipartEndpoint } from "#lib/http/multipart-endpoint.ts";
import { prepareMessenger, submit } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { sendFile as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Queues a file, uploaded or from a URL that the messenger downloads. */
export const handler = multipartEndpoint(route).handler(async ({ body, headers, sender, requestId }) => {
  const { id, accepted_at } = await submit(
    {
      sender: apiSender(sender().username),
      kind: "file",
      phone: body.phone,
      text: body.caption,
      url: body.file_url,
      file_name: body.file?.fileName,
      content_type: body.file?.contentType,
      reply_to: body.reply_message_id,
      is_forwarded: body.is_forwarded,
      duration_seconds: body.duration,
      ...headers,
    },
    { content: body.file?.content, requestId },
  );
  const message = `The file is queued for sending to ${body.phone} (server timestamp: ${accepted_at})`;
  return { code: "SUCCESS", message, results: { message_id: id, status: message } };
});
