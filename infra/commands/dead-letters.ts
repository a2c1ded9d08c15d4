import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { CommandError, explainAwsError, runCommand, verbCommand } from "./command.ts";
import { findJobsStack, type JobsStack } from "./jobs-stack.ts";
import { formatTable, formatTime } from "./listing.ts";

const usage = `Usage:
  npm run dead-letters -- list --stage STAGE      lists failed events, without phone numbers or texts
  npm run dead-letters -- redo --stage STAGE      retries each event and deletes those that succeed
  npm run dead-letters -- drop ID --stage STAGE   deletes one event

Needs AWS_REGION and credentials for the account of the stage.
Exit code: 0 done, 2 some events failed again, 1 error.`;

/** The longest run of a function, so that no one else receives a message while it is retried. */
const visibilityTimeoutSeconds = 900;

const sqs = new SQSClient({});
const lambda = new LambdaClient({});

const receive = async (queueUrl: string): Promise<Message | undefined> => {
  const { Messages } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      // long polling queries all of the queue's servers, so an empty reply means an empty queue
      WaitTimeSeconds: 2,
      VisibilityTimeout: visibilityTimeoutSeconds,
      MessageSystemAttributeNames: ["SentTimestamp"],
    }),
  );
  return Messages?.[0];
};

/** Receives each message once. Deletes those for which `isDone` resolves to true and releases the others. */
const forEachMessage = async (
  { queueUrl: QueueUrl }: JobsStack,
  isDone: (message: Message) => Promise<boolean>,
): Promise<void> => {
  const received: Message[] = [];
  try {
    for (;;) {
      const message = await receive(QueueUrl);
      if (!message) return;
      received.push(message);
      if (await isDone(message)) {
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }));
        received.pop();
      }
    }
  } finally {
    for (const { ReceiptHandle } of received)
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  }
};

/** Names the job run, or the template and event of a requested notification. Contains no personal data. */
const describe = ({ Body = "{}" }: Message): string => {
  const event = JSON.parse(Body);
  if ("job" in event) return `run of ${event.job} at ${event.scheduled_time}`;
  return `${event.detail?.template ?? "unknown template"}, requested by event ${event.id}`;
};

const list = async (stack: JobsStack) => {
  const rows: string[][] = [];
  await forEachMessage(stack, async (message) => {
    const sentAt = new Date(Number(message.Attributes?.SentTimestamp));
    rows.push([message.MessageId ?? "", formatTime(sentAt), describe(message)]);
    return false;
  });
  console.log(rows.length === 0 ? "No dead letters." : formatTable(["id", "since", "event"], rows));
};

const redo = async (stack: JobsStack): Promise<number> => {
  let failed = 0;
  await forEachMessage(stack, async (message) => {
    const { FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: stack.functionName, Payload: message.Body ?? "{}" }),
    );
    console.log(`${FunctionError ? "failed again" : "done"}: ${describe(message)}`);
    if (FunctionError) failed += 1;
    return !FunctionError;
  });
  return failed === 0 ? 0 : 2;
};

const drop = async (stack: JobsStack, id: string) => {
  let found = false;
  await forEachMessage(stack, async (message) => {
    if (message.MessageId !== id) return false;
    console.log(`dropped: ${describe(message)}`);
    found = true;
    return true;
  });
  if (!found) throw new CommandError(`No dead letter with ID ${id}. See: npm run dead-letters -- list`);
};

/** Runs work on the jobs stack of a stage, and explains errors of AWS. */
const withStack = async <T>(
  stage: string | undefined,
  work: (stack: JobsStack) => Promise<T>,
): Promise<T> => {
  if (!stage) throw new CommandError("--stage is required, such as --stage prod");
  try {
    return await work(await findJobsStack(stage));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The AWS request failed: ${explainAwsError(error)}`);
  }
};

export const run = verbCommand(usage, { stage: { type: "string" } } as const, {
  list: async ({ stage }) => withStack(stage, list),
  redo: ({ stage }) => withStack(stage, redo),
  "drop ID": async ({ stage }, id) => {
    if (!id) throw new CommandError("drop needs an ID. See: npm run dead-letters -- list");
    await withStack(stage, (stack) => drop(stack, id));
  },
});

if (import.meta.main) await runCommand(run);
