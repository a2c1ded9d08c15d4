import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Invocation, Outcome } from "../../infra/local/lambda/environment.ts";

/** Lambda's Runtime API on loopback, for one execution environment: it serves one invocation at a time. */
export interface RuntimeApi {
  /** Host and port, as `AWS_LAMBDA_RUNTIME_API` has it. */
  readonly address: string;
  /** Undefined once the handler is loaded, or why it could not be. */
  readonly loaded: Promise<Outcome | undefined>;
  /** Passes an invocation to the runtime client when it requests one. Never rejects. */
  invoke(invocation: Invocation): Promise<Outcome>;
  stop(): Promise<void>;
}

const root = "/2018-06-01/runtime";

const readFailure = (body: string): Outcome => {
  const { errorMessage = "", errorType = "Error" } = JSON.parse(body) as Record<string, string>;
  return { errorMessage, errorType };
};

/** @see https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export const startRuntimeApi = async (functionArn: string): Promise<RuntimeApi> => {
  const loading = Promise.withResolvers<Outcome | undefined>();
  let asking: ServerResponse | undefined;
  let given: Invocation | undefined;
  let settle: (outcome: Outcome) => void = () => {};

  const hand = () => {
    if (!asking || !given) return;
    const { event, requestId, deadline } = given;
    asking.writeHead(200, {
      "content-type": "application/json",
      "lambda-runtime-aws-request-id": requestId,
      "lambda-runtime-deadline-ms": String(deadline),
      "lambda-runtime-invoked-function-arn": functionArn,
    });
    asking.end(JSON.stringify(event));
    asking = given = undefined;
  };

  const receive = async (message: IncomingMessage, answer: ServerResponse) => {
    const call = message.url?.replace(root, "") ?? "";
    if (call === "/invocation/next") {
      asking = answer;
      loading.resolve(undefined);
      return hand();
    }
    const body = await text(message);
    answer.writeHead(202).end();
    if (call === "/init/error") loading.resolve(readFailure(body));
    else settle(call.endsWith("/response") ? { payload: body } : readFailure(body));
  };

  // a client that is ended in the middle of a call has nothing more to say
  const server = createServer((message, answer) => void receive(message, answer).catch(() => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    loaded: loading.promise,
    invoke: (invocation) =>
      new Promise((resolve) => {
        given = invocation;
        settle = resolve;
        hand();
      }),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
};
