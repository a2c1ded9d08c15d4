import { createHash } from "node:crypto";
import { text } from "node:stream/consumers";
import { serve } from "../steps/http-server.ts";
import { describeStack } from "./stack.ts";

interface Letter {
  readonly id: string;
  readonly body: unknown;
}

/** A stage's jobs stack: its dead-letter queue, and a function that fails for an event that says so. */
export interface JobsStack {
  /** Endpoint of CloudFormation, SQS and Lambda. */
  readonly url: string;
  readonly letters: readonly { readonly id: string; readonly body: string; readonly hidden: boolean }[];
  /** Payloads that the function was invoked with. */
  readonly invoked: readonly string[];
}

/**
 * Starts the parts of three AWS services that `npm run city -- dead-letters` uses, on loopback, until the test ends.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/
 */
export const startJobsStack = async (content: readonly Letter[] = []): Promise<JobsStack> => {
  const letters = content.map(({ id, body }) => ({ id, body: JSON.stringify(body), hidden: false }));
  const invoked: string[] = [];

  const find = (handle: unknown) => {
    const letter = letters.find(({ id }) => `handle-${id}` === handle);
    if (!letter) throw new Error(`unknown receipt handle ${handle}`);
    return letter;
  };

  // biome-ignore lint/suspicious/noExplicitAny: JSON as the SDK's own client writes it
  const operations: Readonly<Record<string, (input: any) => object>> = {
    "AmazonSQS.ReceiveMessage": () => {
      const next = letters.find(({ hidden }) => !hidden);
      if (!next) return {};
      next.hidden = true;
      const message = {
        MessageId: next.id,
        ReceiptHandle: `handle-${next.id}`,
        Body: next.body,
        MD5OfBody: createHash("md5").update(next.body).digest("hex"),
        Attributes: { SentTimestamp: "1750000000000" },
      };
      return { Messages: [message] };
    },
    "AmazonSQS.DeleteMessage": ({ ReceiptHandle }) => letters.splice(letters.indexOf(find(ReceiptHandle)), 1),
    "AmazonSQS.ChangeMessageVisibility": ({ ReceiptHandle, VisibilityTimeout }) =>
      Object.assign(find(ReceiptHandle), { hidden: VisibilityTimeout > 0 }),
  };

  const url = await serve(async (request, response) => {
    const body = await text(request);
    const operation = operations[String(request.headers["x-amz-target"])];
    if (operation) {
      const reply = operation(JSON.parse(body));
      response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(reply));
    } else if (request.url === "/2015-03-31/functions/notify-function/invocations") {
      invoked.push(body);
      response
        .writeHead(200, body.includes("fails") ? { "x-amz-function-error": "Unhandled" } : {})
        .end("null");
    } else {
      const outputs = { DeadLetterQueue: `${url}/1/dead`, NotifyFunction: "notify-function" };
      const reply = describeStack("municipal-test-jobs", outputs, body);
      response.writeHead(reply.status, { "content-type": "text/xml" }).end(reply.body);
    }
  });
  return { url, letters, invoked };
};
