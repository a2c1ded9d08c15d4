import type { Sql } from "postgres";
import { apiSender } from "#lib/messaging/submission.ts";
import { type CallbackSummary, callbackDirectory } from "#lib/messenger/callback/callback-admin.ts";
import { isAccepted, isRedirect } from "#lib/messenger/callback/post.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { listTerms } from "#lib/sender/limits.ts";
import { checkAddress, describeTrial, readUrl, redirects, tryAddress, warnOf } from "./callback-address.ts";
import { CommandError, exitCodes, type Reply } from "./command.ts";
import { overlap, readUsername } from "./credential.ts";
import { formatTable, formatTime } from "./output.ts";
import { cityCommand, noun, readStageSecret, withConnection } from "./stage.ts";

/** Undelivered changes that `list` shows. */
const shownUndelivered = 50;

type Directory = ReturnType<typeof callbackDirectory>;

const withCallbacks = async (
  sender: string,
  work: (directory: Directory, sql: Sql) => Promise<Reply>,
): Promise<Reply> => {
  const encryption = encryptionWith(await readStageSecret("messenger-key"));
  return withConnection("sender-admin", (sql) =>
    work(callbackDirectory(sql, encryption, apiSender(sender)), sql),
  );
};

/** @throws CommandError for a name that neither has a row, nor has sent anything, nor is a user of the secret. */
const requireSender = async (sender: string, sql: Sql): Promise<void> => {
  if ((await listTerms(sql)).some((row) => row.sender === sender)) return;
  const { credentials } = await readStageSecret("messaging-basic");
  if (credentials.some(({ username }) => username === sender)) return;
  throw new CommandError(
    `There is no sender ${sender}. See: ${cityCommand("sender", "list")}, or add it: ${cityCommand("sender", "add", sender)}`,
  );
};

const unknown = (sender: string, url: string) =>
  new CommandError(
    `${sender} has no callback to ${url}. See: ${cityCommand("callback", "list", sender)}, or add it: ${cityCommand("callback", "add", sender, url)}`,
  );

const showSecret = (url: string, secret: string): Reply => ({
  text: `${url}\n${secret}\n\nSend it over a secure channel. It is stored encrypted, and cannot be shown again.`,
  json: { url, secret },
});

const add = (sender: string, url: string) => async (directory: Directory, sql: Sql) => {
  await requireSender(sender, sql);
  const warning = await checkAddress(url);
  const secret = await directory.add(url);
  if (secret)
    return {
      ...showSecret(url, secret),
      afterwards: async () => (warning ? [warning] : warnOf(sender, url, secret)),
    };
  throw new CommandError(
    `${sender} has a callback to ${url}. For a new secret: ${cityCommand("callback", "rotate", sender, url)}`,
  );
};

const test = (sender: string) => async (directory: Directory) => {
  const callbacks = await directory.listSecrets();
  if (callbacks.length === 0)
    throw new CommandError(
      `${sender} has no callbacks. To add one: ${cityCommand("callback", "add", sender, "https://backend.city.example/messages")}`,
    );
  const trials = await Promise.all(
    callbacks.map(async ({ url, disabledAt, secrets }) => {
      if (secrets) return { url, disabledAt, ...(await tryAddress(url, secrets)) };
      return { url, disabledAt, status: undefined, reason: "the secret cannot be decrypted", ms: 0 };
    }),
  );
  return {
    text: trials
      .map((trial) => {
        const gone = `; it is disabled because it answered 410. To enable it: ${cityCommand("callback", "add", sender, trial.url)}`;
        return `${trial.url}: ${describeTrial(trial)}${trial.disabledAt ? gone : ""}`;
      })
      .join("\n"),
    json: {
      trials: trials.map(({ status = null, reason = null, disabledAt: _shown, ...trial }) => ({
        ...trial,
        status,
        reason,
      })),
    },
    code: trials.every(({ status }) => status && isAccepted(status)) ? exitCodes.done : exitCodes.partly,
  };
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

const failureOf = ({
  failures,
  lastStatus,
  disabledAt,
}: Pick<CallbackSummary, "failures" | "lastStatus" | "disabledAt">) => {
  if (disabledAt) return "410, disabled";
  return lastStatus === null ? (failures > 0 ? "no answer" : "-") : String(lastStatus);
};

const list = (sender: string) => async (directory: Directory) => {
  const callbacks = await directory.list();
  const undelivered = await directory.listUndelivered(shownUndelivered);
  const tables = [
    formatTable(
      [
        "address",
        "waiting",
        "undelivered",
        "failures",
        "last failure",
        "next attempt",
        "second secret until",
      ],
      callbacks.map(({ url, waiting, undelivered, failures, retryAt, previousUntil, ...callback }) => [
        url,
        ...[waiting, undelivered, failures].map(String),
        failureOf({ failures, ...callback }),
        ...[retryAt, previousUntil].map(formatTime),
      ]),
    ),
    ...callbacks.flatMap(({ url, lastStatus, disabledAt }) => {
      if (disabledAt)
        return [
          `${url} answered 410 and gets nothing more. If that was a mistake: ${cityCommand("callback", "add", sender, url)}`,
        ];
      return lastStatus && isRedirect(lastStatus) ? [`${url} ${redirects(lastStatus)}.`] : [];
    }),
    ...(undelivered.length > 0
      ? [
          formatTable(
            ["change", "message", "state", "at", "attempts", "last status"],
            undelivered.map(({ id, messageId, state, at, attempts, lastStatus }) => [
              ...[id, messageId, state, formatTime(at)],
              ...[String(attempts), lastStatus === null ? "no answer" : String(lastStatus)],
            ]),
          ),
          `To send them again: ${cityCommand("callback", "replay", sender)}`,
        ]
      : []),
  ];
  return { text: tables.join("\n\n"), json: { callbacks: [...callbacks], undelivered: [...undelivered] } };
};

const replay =
  (sender: string) =>
  async (directory: Directory): Promise<Reply> => {
    const replayed = await directory.replay();
    const kept = (await directory.list()).filter(
      ({ disabledAt, undelivered }) => disabledAt && undelivered > 0,
    );
    const lines = kept.map(
      ({ url, undelivered }) =>
        `${undelivered} wait for ${url}, which answered 410 and is disabled. First: ${cityCommand("callback", "add", sender, url)}`,
    );
    const nothing = kept.length > 0 ? [] : ["No undelivered changes. Nothing to do."];
    return {
      text: [
        ...(replayed > 0 ? [`${replayed} undelivered changes will be sent again`] : nothing),
        ...lines,
      ].join("\n"),
      json: { replayed },
    };
  };

const about = `Manage the addresses to which the changes of a sender's messages are sent.

SENDER is the username, such as tax-office. Each address has a secret, with which the messenger signs.`;

export const run = noun("callback", about, (program, answer) => {
  const sender = ["<sender>", "the username", readUsername] as const;
  const url = ["<url>", "an https address", readUrl] as const;
  program
    .command("add")
    .description("add an address, or enable one that answered 410, and print its secret")
    .argument(...sender)
    .argument(...url)
    .action(answer((name, to) => withCallbacks(name, add(name, to))));
  program
    .command("list")
    .description("list the addresses of a sender and its undelivered changes")
    .argument(...sender)
    .action(answer((name) => withCallbacks(name, list(name))));
  program
    .command("test")
    .description("send a signed test event to each address of a sender now, and print the answers")
    .argument(...sender)
    .action(answer((name) => withCallbacks(name, test(name))));
  program
    .command("rotate")
    .description("print a new secret; both sign until the old one expires")
    .argument(...sender)
    .argument(...url)
    .option(...overlap("secrets"))
    .action(answer((name, to, given) => withCallbacks(name, rotate(name, to, given.overlap))));
  program
    .command("remove")
    .description("remove an address and what waits for it")
    .argument(...sender)
    .argument(...url)
    .action(answer((name, to) => withCallbacks(name, remove(name, to))));
  program
    .command("replay")
    .description("send the undelivered changes of a sender again, for another 24 hours")
    .argument(...sender)
    .action(answer((name) => withCallbacks(name, replay(name))));
});
