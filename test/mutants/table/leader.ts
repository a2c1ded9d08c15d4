// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const leaderFile = "lib/messenger/leader.ts";
const ofLeader = ["test/messenger/leader.test.ts"];
const authFile = "lib/messenger/channels/whatsapp/link/auth-state.ts";
const ofAuth = ["test/messenger/channels/whatsapp/auth-state.test.ts"];
const loginsFile = "lib/messenger/channels/whatsapp/link/logins.ts";
const ofMoods = ["test/messenger/moods/connection.test.ts"];
const ofLink = ["test/messenger/moods/link.test.ts"];
const linkFile = "lib/messenger/channels/whatsapp/link/link.ts";
const whatsAppFile = "lib/messenger/channels/whatsapp/whatsapp.ts";
const ofWhatsApp = ["test/messenger/channels/whatsapp/whatsapp.test.ts"];
const termFile = "lib/messenger/term.ts";
const openFile = "lib/messenger/open-channel.ts";
const ofTask = ["test/messenger/task.test.ts"];

export const leader: readonly Mutant[] = [
  {
    breaks: "A leader whose driver has reconnected believes that it still has the lock",
    file: leaderFile,
    find: "return row?.same ? ",
    replace: "return row ? ",
    tests: ofLeader,
    only: "driver has reconnected",
  },
  {
    breaks: "A leader whose connection is silent goes on",
    file: leaderFile,
    find: "if (!seats) break;",
    replace: "if (!seats) continue;",
    tests: ofLeader,
    only: "stops responding",
  },
  {
    breaks: "A new leader does not wait until the one before has ended",
    file: leaderFile,
    find: "if (isNext) await setTimeout(handoverMs);",
    replace: "if (!isNext) await setTimeout(handoverMs);",
    tests: ofLeader,
    only: "late of its closed",
  },
  {
    breaks: "A leader hears of its closed connection only when it looks for it",
    file: leaderFile,
    find: "const sql = await options.connect(end);",
    replace: "const sql = await options.connect(() => {});",
    tests: ofLeader,
    only: "late of its closed",
  },
  {
    breaks: "A new leader has the epoch of the one before",
    file: leaderFile,
    find: "set epoch = excluded.epoch,",
    replace: "set epoch = messaging.leadership.epoch,",
    tests: ofLeader,
    only: "in a later epoch",
  },
  {
    breaks: "Two candidates lead at once",
    file: leaderFile,
    find: "pg_try_advisory_lock(",
    replace: "pg_try_advisory_lock_shared(",
    tests: ofLeader,
    only: "until its work has stopped",
  },
  {
    breaks: "The lock is given up before the messenger has ended",
    file: leaderFile,
    find: "    await terms?.end();\n",
    replace: "",
    tests: ofLeader,
    only: "until its work has stopped",
  },
  {
    breaks: "Credentials that are saved twice end as they were first",
    file: authFile,
    find: `saved = saved
          .catch(() => {})
          .then(() => change([toChange(options, credsKey.type, credsKey.id, leased)]));`,
    replace: "saved = change([toChange(options, credsKey.type, credsKey.id, leased)]);",
    tests: ofAuth,
    only: "stores the last credentials",
  },
  {
    breaks: "Keys that are being written are not waited for when they are taken back",
    file: authFile,
    find: "        await Promise.allSettled(pending);\n",
    replace: "",
    tests: ofAuth,
    only: "is released only",
  },
  {
    breaks: "Credentials that wait to be saved are lost when they are taken back",
    file: authFile,
    find: "        await saved.catch(() => {});\n",
    replace: "",
    tests: ofAuth,
    only: "is released only",
  },
  {
    breaks: "A leader whose term is over writes keys over those of the next one",
    file: authFile,
    find: ": sql`select from messaging.leadership where epoch = ${epoch} for share`;",
    replace: ": sql`select from messaging.leadership where epoch >= ${epoch} for share`;",
    tests: ofAuth,
    only: "of a former leader",
  },
  {
    breaks: "The next term begins while keys of the one before are still being written",
    file: authFile,
    find: ": sql`select from messaging.leadership where epoch = ${epoch} for share`;",
    replace: ": sql`select from messaging.leadership where epoch = ${epoch}`;",
    tests: ofAuth,
    only: "a later term",
  },
  {
    breaks: "An encrypted value decrypts in another context than its own",
    file: authFile,
    find: "`auth_key/${accountOf(options)}/${type}/${id}`",
    replace: "`auth_key/${accountOf(options)}/${type}/${id.length}`",
    tests: ofAuth,
    only: "moved to another row",
  },
  {
    breaks: "A write that was given up as late is carried out after all",
    file: "lib/db/in-time.ts",
    find: "    query.cancel();\n",
    replace: "",
    tests: ofAuth,
    only: "unresponsive",
  },
  {
    breaks: "A locked account is tried again by the next task",
    file: loginsFile,
    find: "      if (hold) await this.#wait(hold.code, hold.leftMs, ends);",
    replace: "      if (hold === null) await this.#wait(undefined, 0, ends);",
    tests: ofMoods,
    only: "403 stops logins",
  },
  {
    breaks: "The end of a ban that WhatsApp names is not read",
    file: "lib/messenger/channels/whatsapp/connection.ts",
    find: "const seconds = Number(data?.expire);",
    replace: "const seconds = Number(data === undefined);",
    tests: ofMoods,
    only: "402 stops logins",
  },
  {
    breaks: "The keys of a link that WhatsApp has removed are deleted",
    file: authFile,
    find: "select distinct on (type, id) ${account}::smallint, type, id, value from removed order by type, id, version desc`",
    replace: "select ${account}::smallint, type, id, value from removed where false`",
    tests: ofLink,
    only: "can be tried again while a phone is awaited",
  },
  {
    breaks: "An older version of a key is read",
    file: authFile,
    find: "order by version desc limit 1) newest`",
    replace: "order by version limit 1) newest`",
    tests: ["test/messenger/channels/whatsapp/auth-state.test.ts"],
    only: "newest",
  },
  {
    breaks: "A deleted key comes back as its older version",
    file: authFile,
    find: "order by version desc limit case when c.value is not null then 1 end) former",
    replace: "order by version desc limit 1) former",
    tests: ["test/messenger/channels/whatsapp/auth-state.test.ts"],
    only: "newest",
  },
  {
    breaks: "Archived keys that cannot be decrypted are moved back all the same",
    file: authFile,
    find: "const decrypted = toValue(options, type, id, archived.value);",
    replace: "const decrypted: unknown = creds;",
    tests: ofAuth,
    only: "cannot be decrypted",
  },
  {
    breaks: "An archive that is repeated deletes the keys",
    file: authFile,
    find: "and archived_at < (select max(archived_at) from messaging.auth_archive where account = ${account})",
    replace: "and archived_at < now()",
    tests: ofAuth,
    only: "archives one link",
  },
  {
    breaks: "New credentials overwrite those whose restore was not confirmed",
    file: linkFile,
    find: 'insist("read the credentials again", () => auth.reload(), signal)',
    replace: 'insist("read the credentials again", async () => {}, signal)',
    tests: ofWhatsApp,
    only: "was not confirmed",
  },
  {
    breaks: "An old page replaces a link by the one before",
    file: whatsAppFile,
    find: "if (!this.#isRunning || this.#link.isPaired) throw",
    replace: "if (!this.#isRunning) throw",
    tests: ofLink,
    only: "linked later",
  },
  {
    breaks: "An unlink is lost while the current version is looked up",
    file: loginsFile,
    find: "this.#version.update(ends)",
    replace: "this.#version.update(signal)",
    tests: ofMoods,
    only: "not looked up any more",
  },
  {
    breaks: "An unlink is lost while a hold of an earlier run is read",
    file: loginsFile,
    find: "    if (ends.aborted) return;\n",
    replace: "    if (ends.aborted) ends = this.#begin(AbortSignal.any([]));\n",
    tests: ofWhatsApp,
    only: "can be unlinked while it reads",
  },
  {
    breaks: "A hold is stored after its release",
    file: loginsFile,
    find: `() => standing.hold(code, forMs), ends);
    await this.#wait(code, forMs, ends);
`,
    replace: `() => standing.hold(code, forMs), new AbortController().signal);
    await this.#wait(code, forMs, ends);
    await this.#release(new AbortController().signal);
`,
    tests: ofMoods,
    only: "resumed before their hold is stored",
  },
  {
    breaks: "Any version that an operator enters is announced",
    file: "lib/messenger/channels/whatsapp/link/web-version.ts",
    find: "prefix !== `${major}.${minor}` || ",
    replace: 'prefix === "" || ',
    tests: ["test/messenger/channels/whatsapp/web-version.test.ts"],
  },
  {
    breaks: "The page with the current version is read again and again",
    file: "lib/messenger/channels/whatsapp/link/web-version.ts",
    find: "    this.#hasLookedUp = true;\n",
    replace: "",
    tests: ofMoods,
    only: "a version that is rejected too",
  },
  {
    breaks: "A connection that is over still writes keys",
    file: authFile,
    find: "        isReleased = true;\n",
    replace: "        isReleased = false;\n",
    tests: ofAuth,
    only: "lease was released",
  },
  {
    breaks: "A new leader forgets what the number has sent in this hour",
    file: "lib/messenger/send/limits.ts",
    find: "pacing.begin(history);",
    replace: "pacing.begin({ ...history, sentAt: [] });",
    tests: ["test/messenger/task-platform.test.ts"],
    only: "from an earlier task",
  },
  {
    breaks: "A replaced link is never reclaimed",
    file: openFile,
    find: 'if (kind === "replaced") void reclaim();',
    replace: 'if (kind === "replaced") void reclaim;',
    tests: ofMoods,
    only: "440 is followed",
  },
  {
    breaks: "Connections after the first are not counted",
    file: termFile,
    find: "if (connections > 1) metrics.onReconnect();",
    replace: "if (connections < 1) metrics.onReconnect();",
    tests: ofMoods,
    only: "428 is followed",
  },
  {
    breaks: "Messages that are sent again are not counted",
    file: termFile,
    find: "metrics.onOutcome(outcome, ms);",
    replace: 'if (outcome !== "retried") metrics.onOutcome(outcome, ms);',
    tests: ["test/messenger/moods/refusals.test.ts"],
    only: "answers 421 once",
  },
  {
    breaks: "A receipt that says delivered makes its message read",
    file: openFile,
    find: 'kind === "delivered" ? "DELIVERED" : "READ"',
    replace: 'kind === "delivered" ? "READ" : "DELIVERED"',
    tests: ofTask,
    only: "reaches the phone unchanged under its id",
  },
  {
    breaks: "A task that ends takes no more messages while its address is still known",
    file: "lib/messenger/task.ts",
    find: "    await unresolved;\n    await server.close();\n",
    replace: "    await server.close();\n    await unresolved;\n",
    tests: ofTask,
    only: "that is stopped",
  },
  {
    breaks: "A question to the platform is waited for after its connection has ended",
    file: whatsAppFile,
    find: "whileOpen(ask(socket), lost)",
    replace: "ask(socket)",
    tests: ofWhatsApp,
    only: "a lookup of a number",
  },
];
