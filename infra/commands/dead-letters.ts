import { parseArgs } from "node:util";
import { askAws } from "./aws-cli.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { formatTable, formatTime } from "./listing.ts";

const usage = `Usage:
  npm run dead-letters -- list --stage STAGE      what could not be done, without numbers and texts
  npm run dead-letters -- redo --stage STAGE      does each again, and deletes those that succeed
  npm run dead-letters -- drop ID --stage STAGE   deletes one

It works by the AWS CLI, with its account and region.`;

interface Letter {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  /** The event, as the function was to get it. */
  readonly Body: string;
  readonly Attributes: { readonly SentTimestamp: string };
}

interface Place {
  readonly queueUrl: string;
  readonly functionName: string;
}

/** Longer than the function may take: nobody else gets a letter meanwhile, and so never a second time. */
const outOfSightSeconds = 900;

const findPlace = async (stage: string): Promise<Place> => {
  const { Stacks } = await askAws<{ Stacks: { Outputs: { OutputKey: string; OutputValue: string }[] }[] }>([
    ...["cloudformation", "describe-stacks", "--stack-name", `municipal-${stage}-jobs`],
  ]);
  const output = (key: string) =>
    Stacks[0]?.Outputs.find(({ OutputKey }) => OutputKey === key)?.OutputValue ?? "";
  return { queueUrl: output("DeadLetterQueue"), functionName: output("NotifyFunction") };
};

const take = async ({ queueUrl }: Place): Promise<Letter | undefined> => {
  const { Messages = [] } = await askAws<{ Messages?: Letter[] }>([
    ...["sqs", "receive-message", "--queue-url", queueUrl, "--max-number-of-messages", "1"],
    // long polling asks all of the queue's servers, so that nothing means empty
    ...["--wait-time-seconds", "2", "--visibility-timeout", String(outOfSightSeconds)],
    ...["--attribute-names", "SentTimestamp"],
  ]);
  return Messages[0];
};

const drop = ({ queueUrl }: Place, { ReceiptHandle }: Letter) =>
  askAws(["sqs", "delete-message", "--queue-url", queueUrl, "--receipt-handle", ReceiptHandle]);

const putBack = ({ queueUrl }: Place, { ReceiptHandle }: Letter) =>
  askAws([
    ...["sqs", "change-message-visibility", "--queue-url", queueUrl, "--receipt-handle", ReceiptHandle],
    ...["--visibility-timeout", "0"],
  ]);

/** Takes each letter once. @param isDone says whether it may go; the others are put back at the end. */
const forEachLetter = async (place: Place, isDone: (letter: Letter) => Promise<boolean>): Promise<void> => {
  const kept: Letter[] = [];
  try {
    for (;;) {
      const letter = await take(place);
      if (!letter) return;
      kept.push(letter);
      if (await isDone(letter)) {
        await drop(place, letter);
        kept.pop();
      }
    }
  } finally {
    for (const letter of kept) await putBack(place, letter);
  }
};

/** What a letter is about: a run of a job, or a requested notification by its template and its event. */
const describe = ({ Body }: Letter): string => {
  const event = JSON.parse(Body);
  if ("job" in event) return `run of ${event.job} of ${event.scheduled_time}`;
  return `${event.detail?.template ?? "unknown"}, requested by the event ${event.id}`;
};

const list = async (place: Place): Promise<number> => {
  const rows: string[][] = [];
  await forEachLetter(place, async (letter) => {
    const since = formatTime(new Date(Number(letter.Attributes.SentTimestamp)));
    rows.push([letter.MessageId, since, describe(letter)]);
    return false;
  });
  console.log(rows.length === 0 ? "no dead letters" : formatTable(["id", "since", "what"], rows));
  return 0;
};

const redo = async (place: Place): Promise<number> => {
  let failed = 0;
  await forEachLetter(place, async (letter) => {
    const { FunctionError } = await askAws<{ FunctionError?: string }>(
      [
        ...["lambda", "invoke", "--function-name", place.functionName, "--cli-read-timeout", "0"],
        ...["--payload", "fileb:///dev/stdin", "/dev/null"],
      ],
      letter.Body,
    );
    console.log(`${FunctionError ? "failed again" : "done"}: ${describe(letter)}`);
    if (FunctionError) failed += 1;
    return !FunctionError;
  });
  return failed === 0 ? 0 : 2;
};

const dropOne = async (place: Place, id: string): Promise<number> => {
  let found = false;
  await forEachLetter(place, async (letter) => {
    if (letter.MessageId !== id) return false;
    console.log(`dropped: ${describe(letter)}`);
    found = true;
    return true;
  });
  if (!found)
    throw new CommandError(`There is no dead letter ${id}; «npm run dead-letters -- list» shows them`);
  return 0;
};

export const run = command(usage, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    options: { stage: { type: "string" } },
    allowPositionals: true,
  });
  const [verb, id, ...more] = positionals;
  if (more.length > 0 || (verb !== "drop" && id)) throw new CommandError("That is one word too many");
  if (!verb || !["list", "redo", "drop"].includes(verb))
    throw new CommandError(`There is no «${verb ?? ""}»; choose list, redo or drop`);
  if (!values.stage) throw new CommandError("Say which stage: --stage prod");
  if (verb === "drop" && !id)
    throw new CommandError("Give the id of one; «npm run dead-letters -- list» shows them");
  const place = await findPlace(values.stage);
  if (verb === "drop") return dropOne(place, id ?? "");
  return verb === "list" ? list(place) : redo(place);
});

if (import.meta.main) await runCommand(run);
