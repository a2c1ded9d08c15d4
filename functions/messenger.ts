/**
 * The messenger: a container, not a Lambda function. It holds the connection to WhatsApp.
 *
 * Compressing an image starts this same file in a thread, which then does that work and nothing else.
 */
import { isMainThread } from "node:worker_threads";
import "#lib/messenger/accept/compress-image.ts";

if (isMainThread) {
  const { runMessenger } = await import("#lib/messenger/program.ts");
  await runMessenger();
}
