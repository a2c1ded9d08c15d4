import { createInterface } from "node:readline/promises";
import { readPhone as readNumber } from "#lib/messaging/phone-reading.ts";
import { residentImport } from "#lib/resident/import.ts";
import {
  type Change,
  correctSubject,
  eraseSubject,
  importRunning,
  restrictSubject,
} from "#lib/resident/subject.ts";
import { CommandError, type Reply, readWhole, WrongCall } from "../command.ts";
import { formatTable } from "../output.ts";
import { noun } from "../stage.ts";
import { type ActOptions, by, caseOf, createAct, nothingToDo, perform, readNik, reason } from "./act.ts";
import { report } from "./report.ts";

/** The columns by the command's options. */
const columnOf = {
  name: "name",
  motherName: "mother_name",
  familyCard: "family_card_number",
  address: "address",
  hamlet: "hamlet",
  village: "village",
  district: "district",
  city: "city",
} as const;
type Field = keyof typeof columnOf;

/** All that an import brings, except the key and the time. */
const correctable = residentImport.columns.filter(
  ({ column }) => column !== residentImport.key && column !== "created_at",
);

/** Reads a value by the rules of an import. @throws WrongCall */
const readValue = (field: Field) => (text: string) => {
  const value = text.normalize("NFC").trim();
  const column = correctable.find((one) => one.column === columnOf[field]);
  const problem = /\p{Cc}/u.test(value) ? "contains a control character" : column?.check(value);
  if (problem === undefined) return value;
  throw new WrongCall(`${column?.header} ${problem}`);
};

type CorrectOptions = ActOptions & Partial<Record<Field, string | undefined>>;

const describeChanges = (changes: readonly Change[]): string =>
  formatTable(
    ["column", "before", "after"],
    changes.map(({ column, before, after }) => [column, before, after]),
  );

const correct = async (nik: string, options: CorrectOptions): Promise<Reply> => {
  const values = (Object.keys(columnOf) as Field[]).flatMap((field) => {
    const value = options[field];
    return value === undefined ? [] : [[columnOf[field], value] as const];
  });
  if (values.length === 0) throw new WrongCall("Give at least one value to correct, such as --name");
  const act = await createAct(nik, options);
  const { state, id, changes } = await perform((sql) => correctSubject(sql, act, Object.fromEntries(values)));
  if (state === "erased" || state === "unknown") throw nothingToDo(state);
  const text =
    changes.length === 0
      ? "Nothing was changed: these values are stored already."
      : `${describeChanges(changes)}\nCorrect the register, too: imports keep the correction until the register has a new value.`;
  return { text, json: { id, state, changes, requestId: act.requestId } };
};

const readPhone = (text: string): string => {
  const read = readNumber(text);
  if ("problem" in read) throw new WrongCall(`--${read.problem}`);
  return read.phone;
};

interface RemovalOptions extends ActOptions {
  readonly lift?: true | undefined;
}

const restrict = async (nik: string, { lift, ...options }: RemovalOptions): Promise<Reply> => {
  const act = await createAct(nik, options);
  const { done, state, id } = await perform((sql) => restrictSubject(sql, act, lift === true));
  if (!done) throw nothingToDo(state);
  const text = lift
    ? `Resident ${id} is shown again.`
    : `Resident ${id} is restricted: still stored, but hidden from lists, searches, verifications and totals.`;
  return { text, json: { id, restricted: !lift, requestId: act.requestId } };
};

/** @throws WrongCall without a terminal. @throws CommandError if the answer is another one. */
const confirm = async (question: string): Promise<void> => {
  if (!process.stdin.isTTY) throw new WrongCall("Without a terminal, the command cannot ask. Add --yes");
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await reader.question(question);
  reader.close();
  if (answer.trim() !== "erase") throw new CommandError("Nothing was erased: the answer was not erase.");
};

interface EraseOptions extends RemovalOptions {
  readonly yes?: true | undefined;
}

const erase = async (nik: string, { lift, yes, ...options }: EraseOptions): Promise<Reply> => {
  if (!lift && !yes) await confirm("To erase this resident, which cannot be undone, type erase: ");
  const act = await createAct(nik, options);
  const { done, state, id } = await perform((sql) => eraseSubject(sql, act, lift === true)).catch(
    (error: { code?: string }) => {
      if (error.code !== importRunning) throw error;
      throw new CommandError("An import is running, which may add the resident again. Try again after it.");
    },
  );
  if (!done) throw lift ? new CommandError("The resident was not erased.") : nothingToDo(state);
  const text = lift
    ? "Imports may add the resident again."
    : `Resident ${id} is erased. Imports reject the number from now on. Keep the case: after a restore of an older backup, ` +
      "erase the resident again.";
  return { text, json: { id, erased: !lift, requestId: act.requestId } };
};

export const run = noun(
  "subject",
  "Answer a citizen's request: report, correct, restrict or erase what is stored about them. Each act is audited.",
  (program, answer) => {
    program
      .command("report")
      .description("report what is stored about a citizen, and every read that showed it")
      .argument("<nik>", "16 digits", readNik)
      .requiredOption(...by)
      .option(...reason, "request of the citizen")
      .option(...caseOf)
      .option("--phone <number>", "with the messages to a number of the citizen, and its opt-out", readPhone)
      .option("--html <file>", "write a page for the citizen, in Indonesian")
      .option("--most <number>", "reads and acts, the newest first", readWhole("--most", 1, 100_000), 10_000)
      .action(answer(report));
    program
      .command("correct")
      .description("correct values of a resident, and print what they were")
      .argument("<nik>", "16 digits", readNik)
      .requiredOption(...by)
      .requiredOption(...reason)
      .option(...caseOf)
      .option("--name <text>", "nama", readValue("name"))
      .option("--mother-name <text>", "nama_ibu", readValue("motherName"))
      .option("--family-card <number>", "no_kk", readValue("familyCard"))
      .option("--address <text>", "alamat", readValue("address"))
      .option("--hamlet <text>", "t_dusun_lingkungan", readValue("hamlet"))
      .option("--village <text>", "t_desakel", readValue("village"))
      .option("--district <text>", "t_kec", readValue("district"))
      .option("--city <text>", "t_kabkota", readValue("city"))
      .action(answer(correct));
    program
      .command("restrict")
      .description("hide a resident from every read, and keep the row")
      .argument("<nik>", "16 digits", readNik)
      .requiredOption(...by)
      .requiredOption(...reason)
      .option(...caseOf)
      .option("--lift", "show a restricted resident again")
      .action(answer(restrict));
    program
      .command("erase")
      .description("erase a resident; imports reject the number from then on")
      .argument("<nik>", "16 digits", readNik)
      .requiredOption(...by)
      .requiredOption(...reason)
      .option(...caseOf)
      .option("--lift", "let imports add an erased resident again")
      .option("--yes", "do not ask")
      .action(answer(erase));
  },
);
