import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** Lambda's Runtime API on loopback, for one execution environment that is invoked once. */
export interface RuntimeApi {
  /** Host and port, as `AWS_LAMBDA_RUNTIME_API` has it. */
  readonly address: string;
  /**
   * The handler's result as JSON, and when it arrived, in milliseconds of `performance.now()`.
   * Rejects with the runtime client's report when the handler throws or cannot be loaded.
   */
  readonly response: Promise<{ payload: string; arrivedAt: number }>;
  stop(): Promise<void>;
}

const requestId = "00000000-0000-0000-0000-000000000001";

/** @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export const startRuntimeApi = async (event: unknown, timeoutSeconds: number): Promise<RuntimeApi> => {
  const { promise: response, resolve, reject } = Promise.withResolvers<Awaited<RuntimeApi["response"]>>();
  const root = "/2018-06-01/runtime";
  let invoked = false;

  const next = (answer: ServerResponse) => {
    if (invoked) return; // a second invocation never comes: the client waits until it is ended
    invoked = true;
    answer.writeHead(200, {
      "Content-Type": "application/json",
      "Lambda-Runtime-Aws-Request-Id": requestId,
      "Lambda-Runtime-Deadline-Ms": Date.now() + timeoutSeconds * 1_000,
      "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:local:000000000000:function:bench",
    });
    answer.end(JSON.stringify(event));
  };
  const receive = async (message: IncomingMessage, answer: ServerResponse) => {
    if (message.url === `${root}/invocation/next`) return next(answer);
    const payload = await text(message);
    if (message.url === `${root}/invocation/${requestId}/response`)
      resolve({ payload, arrivedAt: performance.now() });
    else reject(new Error(`${message.url?.replace(root, "")}: ${payload}`));
    answer.writeHead(202).end();
  };

  const server = createServer((message, answer) => void receive(message, answer).catch(reject));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    response,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};
