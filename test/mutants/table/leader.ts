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
    only: "connected anew",
  },
  {
    breaks: "A leader whose connection is silent goes on",
    file: leaderFile,
    find: "setTimeout(silenceMs, false, { ref: false }),",
    replace: "setTimeout(silenceMs, true, { ref: false }),",
    tests: ofLeader,
    only: "fallen silent",
  },
  {
    breaks: "A new leader does not wait until the one before has ended",
    file: leaderFile,
    find: "if (epoch > 1) await setTimeout(handoverMs);",
    replace: "if (epoch < 1) await setTimeout(handoverMs);",
    tests: ofLeader,
    only: "hears late",
  },
  {
    breaks: "A leader hears of its closed connection only when it looks for it",
    file: leaderFile,
    find: "const sql = await connect(end);",
    replace: "const sql = await connect(() => {});",
    tests: ofLeader,
    only: "hears late",
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
    only: "until its messenger has ended",
  },
  {
    breaks: "The lock is given up before the messenger has ended",
    file: leaderFile,
    find: "if (!ended.aborted) await lead(epoch, ended);",
    replace: "if (!ended.aborted) await Promise.race([lead(epoch, ended), watching]);",
    tests: ofLeader,
    only: "until its messenger has ended",
  },
  {
    breaks: "Credentials that are saved twice end as they were first",
    file: authFile,
    find: `saved = saved
          .catch(() => {})
          .then(() => change([seal(options, credsPlace.type, credsPlace.id, lent)]));`,
    replace: "saved = change([seal(options, credsPlace.type, credsPlace.id, lent)]);",
    tests: ofAuth,
    only: "keeps the last credentials",
  },
  {
    breaks: "Keys that are being written are not waited for when they are taken back",
    file: authFile,
    find: "        await Promise.allSettled(underWay);\n",
    replace: "",
    tests: ofAuth,
    only: "taken back",
  },
  {
    breaks: "Credentials that wait to be saved are lost when they are taken back",
    file: authFile,
    find: "        await saved.catch(() => {});\n",
    replace: "",
    tests: ofAuth,
    only: "taken back",
  },
  {
    breaks: "A leader whose term is over writes keys over those of the next one",
    file: authFile,
    find: ": sql`select from messaging.leadership where epoch = ${epoch} for share`;",
    replace: ": sql`select from messaging.leadership where epoch >= ${epoch} for share`;",
    tests: ofAuth,
    only: "leads no more",
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
    breaks: "A sealed value opens at another place than its own",
    file: authFile,
    find: "const placeOf = (type: string, id: string) => `auth_key/${type}/${id}`;",
    replace: "const placeOf = (type: string, _id: string) => `auth_key/${type}`;",
    tests: ofAuth,
    only: "another place",
  },
  {
    breaks: "A write that was given up as late is carried out after all",
    file: authFile,
    find: "      query.cancel();\n",
    replace: "",
    tests: ofAuth,
    only: "silent",
  },
  {
    breaks: "A connection that is over still writes keys",
    file: authFile,
    find: "        isOver = true;\n",
    replace: "        isOver = false;\n",
    tests: ofAuth,
    only: "is over",
  },
  {
    breaks: "A new leader forgets what the number has sent in this hour",
    file: taskFile,
    find: "const pacing = new Pacing(pace, await loadHistory(sql));",
    replace: "const pacing = new Pacing(pace, { ...(await loadHistory(sql)), sentAt: [] });",
    tests: ofTask,
    only: "from an earlier task",
  },
  {
    breaks: "A receipt that says delivered makes its message read",
    file: taskFile,
    find: 'kind === "delivered" ? "DELIVERED" : "READ"',
    replace: 'kind === "delivered" ? "READ" : "DELIVERED"',
    tests: ofTask,
    only: "reaches the phone under the id",
  },
  {
    breaks: "A task that ends takes no more messages while its address is still known",
    file: taskFile,
    find: "    await forgotten;\n    await server.close();\n",
    replace: "    await server.close();\n    await forgotten;\n",
    tests: ofTask,
    only: "told to end",
  },
  {
    breaks: "A question to the platform is waited for after its connection has ended",
    file: "lib/messenger/channels/whatsapp/whatsapp.ts",
    find: "whileOpen(socket.onWhatsApp(phone), ended)",
    replace: "socket.onWhatsApp(phone)",
    tests: ["test/messenger/channels/whatsapp/whatsapp.test.ts"],
    only: "a number that is asked about",
  },
];
