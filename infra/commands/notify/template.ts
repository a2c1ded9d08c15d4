import { readFileSync } from "node:fs";
import { Option } from "@commander-js/extra-typings";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { bulkClasses } from "#lib/notification/bulk-template.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import {
  addVersion,
  approveVersion,
  listVersions,
  retireVersion,
  TemplateError,
  TemplateName,
  type TemplateVersion,
} from "#lib/notification/template-version.ts";
import { CommandError, type Define, getSize, type Reply, readWhole, WrongCall } from "../command.ts";
import { formatTable, formatTime } from "../listing.ts";
import { withNotifier } from "./notifier.ts";

const maxTextBytes = 4_096;

const readName = (name: string): string => {
  if (TemplateName.safeParse(name).success) return name;
  throw new WrongCall(
    `The name of a template must be 1 to 60 lower-case letters, digits and dashes, not ${name}`,
  );
};

const readOperator = (name: string): string => {
  const trimmed = name.trim();
  if (/^[^\p{Cc}]{1,100}$/u.test(trimmed)) return trimmed;
  throw new WrongCall("--by must be the name of an operator, of up to 100 characters");
};

/** Collects the values of the repeated option. */
const readValue = (pair: string, before: Record<string, string> | undefined): Record<string, string> => {
  const [, name, rule] = /^(\w+)=(\S+)$/.exec(pair) ?? [];
  if (name === undefined || rule === undefined)
    throw new WrongCall(`Expected --value name=rule, such as --value name=words:60, not ${pair}`);
  return { ...before, [name]: rule };
};

const readText = (file: string): string => {
  if (getSize(file) > maxTextBytes) throw new WrongCall(`The text has more than ${maxTextBytes} bytes`);
  return readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();
};

const answerWith = (work: (context: NotifyContext) => Promise<Reply>): Promise<Reply> =>
  withNotifier(work).catch((error: unknown) => {
    throw error instanceof TemplateError ? new CommandError(error.message) : error;
  });

interface AddOptions {
  readonly by: string;
  readonly class?: MessageClass | undefined;
  readonly value?: Readonly<Record<string, string>> | undefined;
}

const add = (name: string, text: string, { by, class: kind, value }: AddOptions): Promise<Reply> =>
  answerWith(async ({ sql }) => {
    const draft = { name, text, class: kind ?? null, parameters: value ?? null };
    const version = await addVersion(sql, draft, { id: by, name: by });
    const reply = `Draft ${name} ${version}. Another operator approves it: npm run notify -- template approve ${name} ${version} --by NAME`;
    return { text: reply, json: { name, version } };
  });

const describeVersion = ({ name, version, status, author, approver, text }: TemplateVersion): string =>
  `${name} ${version}  ${status}  by ${author}${approver === null ? "" : `, approved by ${approver}`}\n${text.replace(/^/gm, "    ")}`;

const list = (name: string | undefined): Promise<Reply> =>
  answerWith(async ({ sql }) => {
    const versions = [...(await listVersions(sql, name))];
    const rows = versions.map((one) => [
      one.name,
      String(one.version),
      one.status,
      one.author,
      one.approver ?? "-",
      formatTime(one.createdAt),
    ]);
    const text =
      name === undefined
        ? formatTable(["template", "version", "status", "author", "approver", "created"], rows)
        : versions.map(describeVersion).join("\n");
    return { text, json: { versions } };
  });

const approve = (name: string, version: number, by: string): Promise<Reply> =>
  answerWith(async ({ sql }) => {
    await approveVersion(sql, name, version, { id: by, name: by });
    return { text: `${name} ${version} is sent from now on.`, json: { name, version, approver: by } };
  });

const retire = (name: string, version: number): Promise<Reply> =>
  answerWith(async ({ sql }) => {
    await retireVersion(sql, name, version);
    return { text: `${name} ${version} is not sent any more.`, json: { name, version } };
  });

/** Adds the commands for texts that are changed without a deployment. */
export const defineTemplates: Define = (program, answer) => {
  const template = program
    .command("template")
    .description("change the text of a template without a deployment; another operator approves it");
  const readVersion = readWhole("VERSION", 1, 1_000_000);
  template
    .command("add")
    .description("add a version as a draft; {{name}} in the text stands for a value")
    .argument("<template>", "its name, also of one in code, whose class and values stay", readName)
    .argument("<file>", "the text, as UTF-8", readText)
    .requiredOption("--by <operator>", "who wrote it", readOperator)
    .addOption(new Option("--class <class>", "of a new template").choices(bulkClasses))
    .option("--value <name=rule>", "a value of a new template: words:60, count, day or clock", readValue)
    .action(answer((name, text, options) => add(name, text, options)));
  template
    .command("list")
    .description("list the versions in the database, or those of one template with their texts")
    .argument("[template]", "its name", readName)
    .action(answer((name) => list(name)));
  template
    .command("approve")
    .description("send the text of a draft from now on")
    .argument("<template>", "its name", readName)
    .argument("<version>", "as in the list", readVersion)
    .requiredOption("--by <operator>", "who approves it; not its author", readOperator)
    .action(answer((name, version, { by }) => approve(name, version, by)));
  template
    .command("retire")
    .description("send the approved version before it again, or the text in code")
    .argument("<template>", "its name", readName)
    .argument("<version>", "as in the list", readVersion)
    .action(answer((name, version) => retire(name, version)));
};
