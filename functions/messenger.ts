/**
 * The session task: a container of its own, not a Lambda. It drives the messaging session.
 *
 * Compressing an image starts this same file in a thread, which then does that work and nothing else.
 */
import { isMainThread } from "node:worker_threads";
import "#lib/messenger/accept/compress-image.ts";

if (isMainThread) {
  const { runSession } = await import("#lib/messenger/program.ts");
  await runSession();
}
