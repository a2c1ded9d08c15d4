import { type ChannelName, channelNames, channels } from "#lib/messaging/channel.ts";
import {
  type AccountSummary,
  type AccountTerms,
  accountDirectory,
} from "#lib/messenger/account/account-admin.ts";
import { CommandError, type Reply, WrongCall } from "./command.ts";
import { readName } from "./credential.ts";
import { formatTable, formatTime } from "./output.ts";
import { cityCommand, noun, withDirectoryOf } from "./stage.ts";

const readAccount = readName("ACCOUNT", "health-1");
const readPool = readName("POOL", "health");
const readDepartment = (text: string): string => {
  if (/^[^\p{Cc}]{1,100}$/u.test(text.trim())) return text.trim();
  throw new WrongCall("--department must be 1 to 100 characters on one line, such as Dinas Kesehatan");
};
const department = [
  "--department <text>",
  "whose number it is, such as Dinas Kesehatan",
  readDepartment,
] as const;
const pool = ["--pool <name>", "whose senders' messages it sends", readPool] as const;

const readChannel = (text: string): ChannelName => {
  const channel = channelNames.find((one) => one === text);
  if (channel) return channel;
  throw new WrongCall(`Unknown channel: ${text}. Use ${channelNames.join(", ")}.`);
};

const states = ["active", "spare", "retired"] as const;
const readState = (text: string) => {
  const state = states.find((one) => one === text);
  if (state) return state;
  throw new WrongCall(`Unknown state: ${text}. Use ${states.join(", ")}.`);
};

const format = (accounts: readonly AccountSummary[]): string =>
  formatTable(
    ["account", "channel", "pool", "department", "state", "number", "linked", "waiting", "login"],
    accounts.map(({ name, channel, pool, department, state, number, linkedAt, waiting, holdCode }) => [
      ...[name, channel, pool, department ?? "-", state, number ?? "-"],
      formatTime(linkedAt),
      ...[String(waiting), holdCode === null ? "-" : `held, code ${holdCode}`],
    ]),
  );

type Directory = ReturnType<typeof accountDirectory>;

const withDirectory = withDirectoryOf("sender-admin", accountDirectory);

const show = async (directory: Directory, name: string, hint = ""): Promise<Reply> => {
  const accounts = (await directory.list()).filter((one) => one.name === name);
  return { text: `${format(accounts)}${hint}`, json: { ...accounts[0] } };
};

const list = async (directory: Directory): Promise<Reply> => {
  const accounts = await directory.list();
  return { text: format(accounts), json: { accounts: [...accounts] } };
};

const nextStep = (channel: ChannelName): string =>
  channels[channel].isLinked
    ? "Link its number in the console: choose the account there."
    : "Put its settings into the secret messenger-channels; within a minute the console says whether it can be used.";

const add = (name: string, terms: AccountTerms) => async (directory: Directory) => {
  if (!(await directory.add(name, terms))) throw new CommandError(`The account ${name} exists already.`);
  return show(directory, name, `\n\n${nextStep(terms.channel ?? "whatsapp")}`);
};

const problems = {
  unknown: "There is no such account",
  retired: "It is retired for good. Add another account",
  last: "It is the last account of its pool, whose senders' messages nobody would send. Add another account to the pool",
} as const;

const change = (name: string, terms: AccountTerms) => async (directory: Directory) => {
  const outcome = await directory.change(name, terms);
  if (outcome !== "changed")
    throw new CommandError(`${name}: ${problems[outcome]}. See: ${cityCommand("account", "list")}`);
  return show(directory, name);
};

const about = `Manage the accounts that send messages: each is linked to one number in the console.

ACCOUNT is a name of lower-case letters, digits and dashes, such as health-1. A new stage has one, main, in the pool city.
The accounts of a pool share the messages of its senders (npm run city -- sender limit SENDER --pool POOL). A recipient keeps its
account while that one can send; of an account that cannot, the others send what has not left. Accounts of the channels cloud-api
and sms send what those of the channel before cannot deliver; their settings are in the secret messenger-channels.`;

export const run = noun("account", about, (program, answer) => {
  program
    .command("add")
    .description("add an account; then link its number in the console, or put its settings into a secret")
    .argument("<account>", "name", readAccount)
    .option("--channel <name>", "whatsapp (the default), cloud-api or sms", readChannel)
    .option(...department)
    .option(...pool)
    .option("--spare", "connected, but used only when no other account of its pool can send", false)
    .action(
      answer((name, { spare, ...terms }) =>
        withDirectory(add(name, { ...terms, ...(spare && { state: "spare" }) })),
      ),
    );
  program
    .command("list")
    .description("list accounts with their numbers and how many messages wait for each")
    .action(answer(() => withDirectory(list)));
  program
    .command("change")
    .description("change an account; takes effect within seconds")
    .argument("<account>", "name", readAccount)
    .option(...department)
    .option(...pool)
    .option(
      "--state <state>",
      "active, spare, or retired for good: it disconnects, and others send its messages",
      readState,
    )
    .action(
      answer((name, terms) => {
        if (Object.keys(terms).length === 0)
          throw new WrongCall("Give at least one of --department, --pool and --state");
        return withDirectory(change(name, terms));
      }),
    );
});
