import { join } from "node:path";
import { loginRoles } from "#lib/db/roles.ts";
import { findPause, setPaused } from "#lib/messenger/outbox/depth.ts";
import { mintToken } from "#lib/opaque-token.ts";
import { startServer } from "../../../infra/local/postgres/server.ts";
import { localSecretName } from "../../../infra/local/secrets/store.ts";
import { openSuperuser, type Scene } from "../chaos/scene.ts";
import { settle } from "../chaos/verdict.ts";
import type { Archive } from "./backup.ts";
import { checkAudit, checkKey, checkOptOuts, checkPairing, checkResidents } from "./checks.ts";
import { type As, runFunction, submitRounds, untilArrived } from "./city.ts";
import { compareFacts, readFacts } from "./facts.ts";
import type { Memory } from "./lose.ts";
import type { Take } from "./report.ts";

const timeoutMs = 30_000;

const prefix = localSecretName("" as "database/admin");

/** Gives the secrets the address of another server and new passwords of the roles, as a template does. */
export const moveSecrets = ({ store }: Scene, port: number): void => {
  for (const role of ["admin", ...Object.keys(loginRoles)]) {
    const name = `${prefix}database/${role}`;
    const held = JSON.parse(store.find(name)?.value ?? "{}");
    const password = role === "admin" ? held.password : mintToken("");
    store.put(name, JSON.stringify({ ...held, port, password }));
  }
};

const count = (scene: Scene, ids: readonly string[]): number =>
  ids.reduce((sum, id) => sum + scene.platform.arrivalsOf(id), 0);

/**
 * What is wrong with messages of which each must be shown once by a phone. One that was sent before the loss is composed
 * again, with the same id: phones show the first one.
 */
const judge = ({ platform, numbers }: Scene, ids: readonly string[]): string[] => {
  const phones = numbers.map((number) => platform.phone(number));
  const shown = phones.flatMap(({ inbox }) => inbox.map(({ id }) => id));
  const unreadable = new Set(phones.flatMap(({ failures }) => failures.map(({ id }) => id)));
  return ids.flatMap((id) => {
    const times = shown.filter((one) => one === id).length;
    if (times !== 1) return [`message ${id} is shown ${times} times`];
    return unreadable.has(id) ? [`message ${id} could not be read at first`] : [];
  });
};

interface Recovery {
  readonly scene: Scene;
  readonly archive: Archive;
  readonly as: As;
  readonly take: Take;
  /** Where the restored database is. */
  readonly folder: string;
  /** Ends what it starts, last first. */
  readonly stops: (() => unknown)[];
}

/**
 * Restores the database, deploys on it, starts the messenger, and checks at each step that nothing is missing.
 *
 * @returns the port of the server.
 */
export const recoverAll = async (recovery: Recovery, memory: Memory): Promise<number> => {
  const { scene, archive, as, take, folder, stops } = recovery;
  const { platform, fleet, store } = scene;
  const held = memory.waiting.filter((id) => platform.arrivalsOf(id) === 0);
  let sentBefore = 0;
  let port = 0;

  await take(
    "restore",
    async () => {
      archive.restore(join(folder, "restored/postgres"));
      const server = await startServer({
        ...{ folder: join(folder, "restored/postgres"), durable: true, settings: archive.recovering },
        superuserPassword: store.find(localSecretName("database/superuser"))?.value ?? "",
      });
      stops.push(() => server.stop());
      port = server.port;
      return { seen: "the backup, and the log until its end" };
    },
    { recovers: true },
  );

  await take("compare with the lost one", async () => {
    const sql = openSuperuser(store, port);
    const facts = await readFacts(sql).finally(() => sql.end());
    const rows = [...facts.counts.values()].reduce((sum, rows) => sum + rows, 0);
    return {
      seen: `${facts.counts.size} tables with ${rows} rows, ${facts.schema.length} lines of schema, ${facts.roles.length} roles`,
      wrongs: compareFacts(memory.facts, facts),
    };
  });

  await take(
    "deploy on it",
    async () => {
      moveSecrets(scene, port);
      await runFunction(scene, "migrate", {
        DATABASE_SECRET_ID: localSecretName("database/admin"),
        ...{ DATABASE_HOST: "127.0.0.1", DATABASE_PORT: String(port), DATABASE_NAME: "municipal" },
        ...{ SECRETS_PREFIX: prefix, DATABASE_RESTORED_FROM: "the backup of the drill" },
      });
      return { seen: "schema, passwords of all roles, sending paused" };
    },
    { recovers: true },
  );

  await take("verify the audit", () => checkAudit(scene, memory.facts.counts.get("audit.seal") ?? 0));
  await take("verify the residents", () => checkResidents(scene));
  await take("try a partner's key", () => checkKey(as, memory.key));
  await take("look for opt-outs", () => checkOptOuts(scene, as, memory.optedOut));
  await take("decrypt the pairing", () => checkPairing(scene, as));

  await take(
    "start the messenger",
    async () => {
      sentBefore = count(scene, memory.waiting);
      await fleet.grow(1);
      await platform.until(() => platform.sockets.loggedIn === 1, timeoutMs);
      return { seen: "it logs in without pairing" };
    },
    { recovers: true },
  );

  await take("look whether messages are held", async () => {
    const { paused } = await as("messenger", findPause);
    const sent = count(scene, memory.waiting) - sentBefore;
    return {
      seen: `${memory.waiting.length} messages wait`,
      wrongs: [
        ...(paused ? [] : ["sending is not paused"]),
        ...(sent === 0 ? [] : [`${sent} messages were sent before an operator resumed`]),
      ],
    };
  });

  await take(
    "resume sending",
    async () => {
      const ids = memory.waiting;
      await as("messenger", (sql) => setPaused(sql, false));
      await untilArrived(scene, ids);
      const { PENDING = 0, SENDING = 0 } = await as("messenger", (sql) => settle({ sql }, timeoutMs));
      // of others, the messenger has got the receipt since
      const again = ids.filter((id) => platform.arrivalsOf(id) > 1);
      return {
        seen: `${held.length} were not sent before; of ${ids.length - held.length} that were, ${again.length} went out again, with the same id`,
        wrongs: [...judge(scene, ids), ...(PENDING + SENDING > 0 ? [`${PENDING + SENDING} still wait`] : [])],
      };
    },
    { recovers: true },
  );

  await take("send new messages", async () => {
    const ids = await submitRounds(scene, "api:new", 2);
    await untilArrived(scene, ids);
    const { mostLoggedIn } = platform.sockets;
    return {
      seen: `${ids.length} messages, each shown once`,
      wrongs: [
        ...judge(scene, ids),
        ...(mostLoggedIn === 1 ? [] : [`${mostLoggedIn} sockets were logged in at once`]),
        ...platform.faults.map((fault) => `the platform itself failed: ${fault}`),
      ],
    };
  });
  return port;
};
