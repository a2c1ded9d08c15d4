import { multipartEndpoint } from "#lib/http/multipart-endpoint.ts";
import { prepareMessenger, submit } from "#lib/messaging/messenger-client.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { sendImage as route } from "#lib/routes/messaging.ts";

prepareMessenger();

/** Queues an image, uploaded or from a URL that the messenger downloads. */
export const handler = multipartEndpoint(route).handler(async ({ body, headers, sender, requestId }) => {
  const { id } = await submit(
    {
      sender: apiSender(sender().username),
      kind: "image",
      phone: body.phone,
      text: body.caption,
      url: body.image_url,
      view_once: body.view_once,
      compress: body.compress,
      is_forwarded: body.is_forwarded,
      duration_seconds: body.duration,
      ...headers,
    },
    { content: body.image?.content, requestId },
  );
  return { status: true, data: { id, status: "PENDING", message: "The image is queued for sending" } };
});
