import { findSetting } from "#lib/config.ts";
import { apiSender } from "#lib/messaging/submission.ts";
import { callbackDirectory } from "#lib/messenger/callback/directory.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { messengerKeySchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { readLocalSecret } from "../local/secrets/store.ts";
import { CommandError, command, type Reply, runCommand, WrongCall } from "./command.ts";
import { requireStageDatabase, withConnection } from "./connect.ts";
import { overlap, readUsername, stage } from "./credential.ts";
import { formatTable, formatTime } from "./listing.ts";

/** Dead letters that `list` shows. */
const shownDead = 50;

const readUrl = (text: string): string => {
  const url = URL.parse(text);
  const isPlain = url?.protocol === "https:" && !url.username && !url.password && !url.hash;
  if (isPlain && text.length <= 2_048 && ["", "443"].includes(url.port)) return url.href;
  throw new WrongCall(
    "URL must be an https address on port 443 without credentials, such as https://backend.city.example/messages",
  );
};

/** The key with which the messenger decrypts the secrets: of the stage, or of the running `npm run dev`. */
const readKey = async () => {
  const secret = findSetting("MESSENGER_KEY_SECRET_ID");
  if (secret) return readSecret(secret, messengerKeySchema());
  if (findSetting("DATABASE_URL") ?? findSetting("DATABASE_SECRET_ID"))
    throw new WrongCall("Set MESSENGER_KEY_SECRET_ID to the full name of the stage's secret messenger-key");
  return readLocalSecret("messenger-key");
};

type Directory = ReturnType<typeof callbackDirectory>;

const withCallbacks = async (
  sender: string,
  given: { readonly stage?: string | undefined },
  work: (directory: Directory) => Promise<Reply>,
): Promise<Reply> => {
  requireStageDatabase(given.stage, "sender-admin");
  const encryption = encryptionWith(await readKey());
  return withConnection("sender-admin", (sql) => work(callbackDirectory(sql, encryption, apiSender(sender))));
};

const unknown = (sender: string, url: string) =>
  new CommandError(
    `${sender} has no callback to ${url}. See: npm run callback -- list ${sender}, or add it: npm run callback -- add ${sender} ${url}`,
  );

const showSecret = (url: string, secret: string): Reply => ({
  text: `${url}\n${secret}\n\nSend it over a secure channel. It is stored encrypted, and cannot be shown again.`,
  json: { url, secret },
});

const add = (sender: string, url: string) => async (directory: Directory) => {
  const secret = await directory.add(url);
  if (secret) return showSecret(url, secret);
  throw new CommandError(
    `${sender} has a callback to ${url}. For a new secret: npm run callback -- rotate ${sender} ${url}`,
  );
};

const rotate = (sender: string, url: string, hours: number) => async (directory: Directory) => {
  const secret = await directory.rotate(url, hours * 3_600_000);
  if (!secret) throw unknown(sender, url);
  return showSecret(url, secret);
};

const remove = (sender: string, url: string) => async (directory: Directory) => {
  if (!(await directory.remove(url))) throw unknown(sender, url);
  return { text: `removed ${url}`, json: { removed: url } };
};

const list = (sender: string) => async (directory: Directory) => {
  const callbacks = await directory.list();
  const dead = await directory.listDead(shownDead);
  const tables = [
    formatTable(
      ["address", "waiting", "dead letters", "failures", "next attempt", "second secret until"],
      callbacks.map(({ url, waiting, dead: letters, failures, retryAt, previousUntil }) => [
        url,
        ...[waiting, letters, failures].map(String),
        ...[retryAt, previousUntil].map(formatTime),
      ]),
    ),
    ...(dead.length > 0
      ? [
          formatTable(
            ["dead letter", "message", "state", "at", "attempts", "last status"],
            dead.map(({ id, messageId, state, at, attempts, lastStatus }) => [
              ...[id, messageId, state, formatTime(at)],
              ...[String(attempts), lastStatus === null ? "no answer" : String(lastStatus)],
            ]),
          ),
          `To send them again: npm run callback -- replay ${sender}`,
        ]
      : []),
  ];
  return { text: tables.join("\n\n"), json: { callbacks: [...callbacks], dead: [...dead] } };
};

const replay = async (directory: Directory): Promise<Reply> => {
  const replayed = await directory.replay();
  return {
    text: replayed > 0 ? `${replayed} dead letters will be sent again` : "No dead letters. Nothing to do.",
    json: { replayed },
  };
};

const about = `Manage the addresses to which the changes of a sender's messages are sent.

SENDER is the username, such as tax-office. Each address has a secret, with which the messenger signs. On a stage, the
command also needs MESSENGER_KEY_SECRET_ID, the full name of the secret messenger-key.`;

export const run = command("callback", about, (program, answer) => {
  const sender = ["<sender>", "the username", readUsername] as const;
  const url = ["<url>", "an https address", readUrl] as const;
  program
    .command("add")
    .description("add an address, and print its secret")
    .argument(...sender)
    .argument(...url)
    .option(...stage)
    .action(answer((name, to, given) => withCallbacks(name, given, add(name, to))));
  program
    .command("list")
    .description("list the addresses of a sender and its dead letters; times are in UTC")
    .argument(...sender)
    .option(...stage)
    .action(answer((name, given) => withCallbacks(name, given, list(name))));
  program
    .command("rotate")
    .description("print a new secret; both sign until the old one expires")
    .argument(...sender)
    .argument(...url)
    .option(...overlap("secrets"))
    .option(...stage)
    .action(answer((name, to, given) => withCallbacks(name, given, rotate(name, to, given.overlap))));
  program
    .command("remove")
    .description("remove an address and what waits for it")
    .argument(...sender)
    .argument(...url)
    .option(...stage)
    .action(answer((name, to, given) => withCallbacks(name, given, remove(name, to))));
  program
    .command("replay")
    .description("send the dead letters of a sender again, for another 24 hours")
    .argument(...sender)
    .option(...stage)
    .action(answer((name, given) => withCallbacks(name, given, replay)));
});

if (import.meta.main) await runCommand(run);
