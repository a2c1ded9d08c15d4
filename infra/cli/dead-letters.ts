import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { readOutputs } from "./audit-anchors.ts";
import { CommandError, exitCodes, explainAwsError, type Reply } from "./command.ts";
import { formatTable, formatTime } from "./output.ts";
import { cityCommand, noun, requireStage } from "./stage.ts";

/** The parts of a stage's jobs stack that the command uses; empty when the stack lacks the output. */
interface JobsStack {
  readonly queueUrl: string;
  readonly functionName: string;
}

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

const list = async (stack: JobsStack): Promise<Reply> => {
  const letters: { id: string; since: Date; event: string }[] = [];
  await forEachMessage(stack, async (message) => {
    const since = new Date(Number(message.Attributes?.SentTimestamp));
    letters.push({ id: message.MessageId ?? "", since, event: describe(message) });
    return false;
  });
  const rows = letters.map(({ id, since, event }) => [id, formatTime(since), event]);
  const text =
    rows.length === 0 ? "No dead letters. Nothing to do." : formatTable(["id", "since", "event"], rows);
  return { text, json: { letters } };
};

const redo = async (stack: JobsStack): Promise<Reply> => {
  const events: { event: string; done: boolean }[] = [];
  await forEachMessage(stack, async (message) => {
    const { FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName: stack.functionName, Payload: message.Body ?? "{}" }),
    );
    events.push({ event: describe(message), done: !FunctionError });
    return !FunctionError;
  });
  const text = events.map(({ event, done }) => `${done ? "done" : "failed again"}: ${event}`).join("\n");
  const code = events.every(({ done }) => done) ? exitCodes.done : exitCodes.partly;
  return { text: text || "No dead letters. Nothing to do.", json: { events }, code };
};

const drop = async (stack: JobsStack, id: string): Promise<Reply> => {
  let dropped: string | undefined;
  await forEachMessage(stack, async (message) => {
    if (message.MessageId !== id) return false;
    dropped = describe(message);
    return true;
  });
  if (!dropped)
    throw new CommandError(`No dead letter with ID ${id}. See: ${cityCommand("dead-letters", "list")}`);
  return { text: `dropped: ${dropped}`, json: { id, event: dropped } };
};

/** Runs work on the jobs stack of a stage, and explains errors of AWS. */
const withStack = async (work: (stack: JobsStack) => Promise<Reply>): Promise<Reply> => {
  const stage = requireStage();
  try {
    const output = await readOutputs(stage, "jobs");
    return await work({ queueUrl: output("DeadLetterQueue"), functionName: output("NotifyFunction") });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The AWS request failed: ${explainAwsError(error)}`);
  }
};

export const run = noun(
  "dead-letters",
  "List and retry failed notification events of a stage. Needs AWS_REGION and credentials for its account.",
  (program, answer) => {
    program
      .command("list")
      .description("list failed events, without phone numbers or texts")
      .action(answer(() => withStack(list)));
    program
      .command("redo")
      .description("retry each event and delete those that succeed")
      .action(answer(() => withStack(redo)));
    program
      .command("drop")
      .description("delete one event")
      .argument("<id>", "as in list")
      .action(answer((id) => withStack((stack) => drop(stack, id))));
  },
);
