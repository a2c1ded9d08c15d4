import { type MessageClass, priorities } from "#lib/messaging/submission.ts";
import type { SenderTerms } from "#lib/sender/limits.ts";
import {
  type CredentialSummary,
  type IssuedCredential,
  type Limits,
  senderDirectory,
} from "#lib/sender/sender-admin.ts";
import { CommandError, type Reply, readWhole, WrongCall } from "./command.ts";
import {
  expires,
  formatState,
  overlap,
  readName,
  readUsername,
  showSecret,
  stateColumns,
} from "./credential.ts";
import { formatTable } from "./output.ts";
import { cityCommand, noun, withDirectoryOf } from "./stage.ts";

const classNames = Object.keys(priorities) as MessageClass[];

const readSender = readName("SENDER", "tax-office");

const readClasses = (text: string): MessageClass[] => {
  if (text === "all") return classNames;
  return text.split(",").map((name) => {
    const known = classNames.find((one) => one === name.trim());
    if (!known) throw new WrongCall(`Unknown class: ${name}. Use ${classNames.join(", ")}, or all.`);
    return known;
  });
};

const readCountries = (text: string): string[] => {
  if (text === none) return [];
  const codes = text.split(",").map((code) => code.trim());
  if (codes.every((code) => /^[1-9]\d{0,2}$/.test(code))) return codes;
  throw new WrongCall("--countries must be country codes without +, such as 60,65, or none");
};

/** Commander takes null for a missing value. */
const none = "none";
type Given = number | typeof none | undefined;

/** Reads a number, or `none`, which removes the limit. */
const readLimit = (option: string, most: number) => (text: string) =>
  text === none ? none : readWhole(option, 0, most)(text);
const toLimit = (given: Given) => (given === none ? null : given);

const formatCredentials = (credentials: readonly CredentialSummary[]): string =>
  formatTable(
    ["sender", "credential", ...stateColumns],
    credentials.map((one) => [one.sender, one.id, ...formatState(one)]),
  );

const formatTerms = (terms: readonly SenderTerms[]): string =>
  formatTable(
    ["sender", "pool", "classes", "countries", "per day", "today", "bytes per day", "bytes today"],
    terms.map(({ sender, pool, classes, countries, perDay, messagesToday, bytesPerDay, bytesToday }) => [
      sender,
      pool,
      classes.length === classNames.length ? "all" : classes.join(","),
      countries.join(",") || "-",
      ...[perDay, messagesToday, bytesPerDay, bytesToday].map((number) => String(number ?? "-")),
    ]),
  );

const showCredential = (sender: string, { id, password, expiresAt }: IssuedCredential): Reply => ({
  text: showSecret({ title: `${sender} ${id}`, expiresAt, secret: password, noun: "password" }),
  json: { sender, id, password, expiresAt: expiresAt ?? null },
});

type Directory = ReturnType<typeof senderDirectory>;

const withDirectory = withDirectoryOf("sender-admin", senderDirectory);

const add = (sender: string, expiresAt: Date | undefined) => async (directory: Directory) => {
  const credentials = await directory.listCredentials();
  if (credentials.some((one) => one.sender === sender && one.state === "active"))
    throw new CommandError(
      `${sender} has an active credential. To replace it: ${cityCommand("sender", "rotate", sender)}`,
    );
  return showCredential(sender, await directory.add(sender, expiresAt));
};

const list = async (directory: Directory): Promise<Reply> => {
  const senders = await directory.listTerms();
  const credentials = await directory.listCredentials();
  return {
    text: `${formatTerms(senders)}\n\n${formatCredentials(credentials)}`,
    json: { senders: [...senders], credentials: [...credentials] },
  };
};

const rotate =
  (sender: string, overlapHours: number, expiresAt: Date | undefined) => async (directory: Directory) => {
    const issued = await directory.rotate(sender, overlapHours * 3_600_000, expiresAt);
    if (issued) return showCredential(sender, issued);
    throw new CommandError(
      `${sender} has no active credential. Issue one with: ${cityCommand("sender", "add", sender)}`,
    );
  };

const revoke = (name: string) => async (directory: Directory) => {
  const revoked = await directory.revoke(name);
  if (revoked.length > 0) return { text: `revoked ${revoked.join(", ")}`, json: { revoked } };
  throw new CommandError(
    `No active credential with ID or sender "${name}". See: ${cityCommand("sender", "list")}`,
  );
};

const limit = (sender: string, limits: Limits) => async (directory: Directory) => {
  if (!(await directory.limit(sender, limits)))
    throw new CommandError(
      `No account has the pool "${limits.pool}". See: ${cityCommand("account", "list")}`,
    );
  const terms = (await directory.listTerms()).filter((one) => one.sender === sender);
  const credentials = (await directory.listCredentials()).filter((one) => one.sender === sender);
  const hint =
    credentials.length > 0
      ? ""
      : `\n\nThis sender has no credential of this command: the limits are those of a user with this name in the secret messaging-basic.`;
  return { text: `${formatTerms(terms)}${hint}`, json: { ...terms[0] } };
};

const about = `Manage the senders of the messaging API: their credentials, and what each may send.

SENDER is the username, of lower-case letters, digits and dashes, such as tax-office. A password is shown only once.
Users of the secret messaging-basic are senders, too: limit takes their names.`;

export const run = noun("sender", about, (program, answer) => {
  program
    .command("add")
    .description("add a sender without limits and issue its credential")
    .argument("<sender>", "name", readSender)
    .option(...expires)
    .action(answer((sender, given) => withDirectory(add(sender, given.expires))));
  program
    .command("list")
    .description("list limits, what was accepted today, and all credentials")
    .action(answer(() => withDirectory(list)));
  program
    .command("rotate")
    .description(
      "issue a new credential, with the expiry of the newest one unless another is given; old ones expire",
    )
    .argument("<sender>", "name", readUsername)
    .option(...overlap("credentials"))
    .option(...expires)
    .action(answer((sender, given) => withDirectory(rotate(sender, given.overlap, given.expires))));
  program
    .command("revoke")
    .description("revoke credentials; takes effect within 30 s")
    .argument("<credential|sender>", "a credential ID, or a sender for all its credentials")
    .action(answer((name) => withDirectory(revoke(name))));
  program
    .command("limit")
    .description("change what a sender may send; takes effect within a second")
    .argument("<sender>", "name", readUsername)
    .option("--classes <classes>", `of ${classNames.join(",")}, or all`, readClasses)
    .option(
      "--countries <codes>",
      "country codes of numbers that could be numbers at home without their code, such as 81,855, or none",
      readCountries,
    )
    .option(
      "--per-day <messages>",
      "messages per day of the city, or none",
      readLimit("--per-day", 999_999_999),
    )
    .option(
      "--bytes-per-day <bytes>",
      "bytes of texts and media per day of the city, or none",
      readLimit("--bytes-per-day", 999_999_999_999_999),
    )
    .option(
      "--pool <name>",
      "the accounts that send its messages; see npm run city -- account",
      readName("POOL", "health"),
    )
    .action(
      answer((sender, given) => {
        if (Object.keys(given).length === 0)
          throw new WrongCall(
            "Give at least one of --classes, --countries, --per-day, --bytes-per-day and --pool",
          );
        const { classes, countries, perDay, bytesPerDay, pool } = given;
        const limits = {
          classes,
          countries,
          pool,
          perDay: toLimit(perDay),
          bytesPerDay: toLimit(bytesPerDay),
        };
        return withDirectory(limit(sender, limits));
      }),
    );
});
