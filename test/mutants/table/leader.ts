// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const leaderFile = "lib/messenger/leader.ts";
const ofLeader = ["test/messenger/leader.test.ts"];
const authFile = "lib/messenger/channels/whatsapp/auth-state.ts";
const ofAuth = ["test/messenger/channels/whatsapp/auth-state.test.ts"];
const taskFile = "lib/messenger/task.ts";
const ofTask = ["test/messenger/task.test.ts"];

export const leader: readonly Mutant[] = [
  {
    breaks: "A leader whose driver has reconnected believes that it still has the lock",
    file: leaderFile,
    find: "([row]) => row?.same === true,",
    replace: "([row]) => row !== undefined,",
    tests: ofLeader,
    only: "driver has reconnected",
  },
  {
    breaks: "A leader whose connection is silent goes on",
    file: leaderFile,
    find: "() => false,",
    replace: "() => true,",
    tests: ofLeader,
    only: "stops responding",
  },
  {
    breaks: "A new leader does not wait until the one before has ended",
    file: leaderFile,
    find: "if (epoch > 1) await setTimeout(handoverMs);",
    replace: "if (epoch < 1) await setTimeout(handoverMs);",
    tests: ofLeader,
    only: "late of its closed",
  },
  {
    breaks: "A leader hears of its closed connection only when it looks for it",
    file: leaderFile,
    find: "const sql = await connect(end);",
    replace: "const sql = await connect(() => {});",
    tests: ofLeader,
    only: "late of its closed",
  },
  {
    breaks: "A new leader has the epoch of the one before",
    file: leaderFile,
    find: "set epoch = held.epoch + 1,",
    replace: "set epoch = held.epoch,",
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
    find: "if (!ended.aborted) await lead(epoch, ended);",
    replace: "if (!ended.aborted) await Promise.race([lead(epoch, ended), watching]);",
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
    find: "const contextOf = (type: string, id: string) => `auth_key/${type}/${id}`;",
    replace: "const contextOf = (type: string, _id: string) => `auth_key/${type}`;",
    tests: ofAuth,
    only: "moved to another row",
  },
  {
    breaks: "A write that was given up as late is carried out after all",
    file: authFile,
    find: "    query.cancel();\n",
    replace: "",
    tests: ofAuth,
    only: "unresponsive",
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
    breaks: "A receipt that says delivered makes its message read",
    file: taskFile,
    find: 'kind === "delivered" ? "DELIVERED" : "READ"',
    replace: 'kind === "delivered" ? "READ" : "DELIVERED"',
    tests: ofTask,
    only: "reaches the phone unchanged under its id",
  },
  {
    breaks: "A task that ends takes no more messages while its address is still known",
    file: taskFile,
    find: "    await unresolved;\n    await server.close();\n",
    replace: "    await server.close();\n    await unresolved;\n",
    tests: ofTask,
    only: "that is stopped",
  },
  {
    breaks: "A question to the platform is waited for after its connection has ended",
    file: "lib/messenger/channels/whatsapp/whatsapp.ts",
    find: "whileOpen(ask(socket), lost)",
    replace: "ask(socket)",
    tests: ["test/messenger/channels/whatsapp/whatsapp.test.ts"],
    only: "a lookup of a number",
  },
];
