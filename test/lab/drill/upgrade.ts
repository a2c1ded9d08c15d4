import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { type LocalDatabase, startDatabase } from "../../../infra/local/database.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { localSecretName, openStore } from "../../../infra/local/secrets/store.ts";
import { Load } from "../chaos/load.ts";
import { openSuperuser, type Scene, startScene } from "../chaos/scene.ts";
import { judge, type Verdict } from "../chaos/verdict.ts";
import { checkAudit, checkKey, checkOptOuts, checkPairing, checkResidents } from "./checks.ts";
import { type As, fillCity, maintain, readResidents, readsPerSeal, runFunction } from "./city.ts";
import { empty } from "./dumps.ts";
import { compareFacts, type Facts, readFacts } from "./facts.ts";
import { moveSecrets } from "./recover.ts";
import * as replication from "./replicate.ts";
import type { Step, Take } from "./report.ts";
import { asRoleOf, type DrillOptions, stepsWith } from "./run.ts";

export interface UpgradeOptions extends Omit<DrillOptions, "dumps" | "tamper"> {
  /** Folder with the programs of the version that the city has before. Default: the version from npm, as afterwards. */
  readonly fromBinaries?: string | undefined;
  /** A part that is left out, to see that its absence is noticed. */
  readonly without?: "sequences" | "fence";
}

const timeoutMs = 60_000;
/** Enough that the copy is over before all are sent, and that the messenger stops before all are accepted. */
const messagesPerPhone = { meanwhile: 12, switching: 40 };

/** PostgreSQL lists constraints that columns are not null from version 18 on. */
const comparable = ({ schema, ...rest }: Facts): Facts => ({
  ...rest,
  schema: schema.filter((line) => !/^constraint .* NOT NULL /.test(line)),
});

const versionOf = async (sql: postgres.Sql): Promise<string> => {
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
  return row?.version ?? "";
};

/** A migrated database without rows, on a server of the new version, with the same administrator. */
const startNewDatabase = async ({ store }: Scene, folder: string): Promise<LocalDatabase> => {
  const own = openStore(undefined);
  for (const name of ["database/superuser", "database/admin"].map((name) =>
    localSecretName(name as "database/admin"),
  ))
    own.put(name, store.find(name)?.value ?? "");
  return startDatabase(folder, own, true, { settings: { wal_retrieve_retry_interval: "100ms" } });
};

/** Changes some rows of residents, as an import does, and reads some. */
const changeResidents = async (as: As): Promise<void> => {
  await as("importer", (sql) => sql`update resident.resident set address = 'JALAN BARU 1' where id % 7 = 0`);
  await readResidents(as, readsPerSeal);
};

/** Changes the schema of the old server alone, then of the new one, and back: DDL is not replicated. */
const changeSchema = async (source: postgres.Sql, target: postgres.Sql): Promise<void> => {
  const alter = (sql: postgres.Sql, what: string) => sql.unsafe(`alter table tourism.category ${what}`);
  await replication.untilRefused(target, async () => {
    await alter(source, "add note text");
    await source`insert into tourism.category (id, name, active, note) values ('drill', 'Drill', '1', 'new')`;
  });
  await alter(target, "add note text");
  await replication.untilApplied(source);
  await source`delete from tourism.category where id = 'drill'`;
  for (const sql of [source, target]) await alter(sql, "drop note");
};

/** Lets maintenance begin a partition of the audit, as it does at least once a month: the new server has none for its rows. */
const extendAudit = async (source: postgres.Sql, target: postgres.Sql, as: As): Promise<void> => {
  await replication.untilRefused(target, async () => {
    await source`select setval('audit.resident_read_id', 2 * audit.partition_width())`;
    await source`select audit.extend_partitions()`;
    await readResidents(as, readsPerSeal);
  });
  await replication.copySequences(source, target);
  await target`select audit.extend_partitions()`;
  await replication.untilApplied(source);
};

interface Upgrade {
  readonly scene: Scene;
  readonly as: As;
  readonly take: Take;
  readonly folder: string;
  /** Ends what it starts, last first. */
  readonly stops: (() => unknown)[];
}

const upgradeAll = async ({ scene, as, take, folder, stops }: Upgrade, options: UpgradeOptions) => {
  const { residents, without } = options;
  const { fleet, numbers, store, platform } = scene;
  const optedOut = numbers.map((number) => `${number}9`);
  const source = openSuperuser(store, scene.database.server.port);
  stops.push(() => source.end({ timeout: 0 }));
  const password = store.find(localSecretName("database/superuser"))?.value ?? "";
  let [key, seals, port] = ["", 0, 0];
  let target = source;
  const loads: Load[] = [];

  await take("fill the city", async () => {
    key = (await fillCity(scene, as, residents, optedOut)).key;
    await readResidents(as, readsPerSeal);
    await maintain(scene);
    return { seen: `PostgreSQL ${await versionOf(source)}, ${residents} residents, ${readsPerSeal} reads` };
  });

  await take("look for what is not replicated", async () => ({
    seen: "every table has a key and is logged, no large objects, no materialized views",
    wrongs: await replication.listObstacles(source),
  }));

  await take("start the new server", async () => {
    stops.push(() => destroyServer(join(folder, "new/postgres")));
    const { server } = await startNewDatabase(scene, join(folder, "new/postgres"));
    stops.push(() => server.stop());
    port = server.port;
    target = openSuperuser(store, port);
    stops.push(() => target.end({ timeout: 0 }));
    const emptying = openSuperuser(store, port);
    await empty(emptying).finally(() => emptying.end());
    return { seen: `PostgreSQL ${await versionOf(target)}, schema by the migrations, no rows` };
  });

  await take("copy all tables while they are used", async () => {
    const load = new Load(scene, {
      messages: numbers.length * messagesPerPhone.meanwhile,
      backlog: numbers.length,
    });
    const using = changeResidents(as);
    await replication.publish(source);
    const { port: from } = scene.database.server;
    await replication.subscribe(
      target,
      `host=127.0.0.1 port=${from} user=postgres password=${password} dbname=municipal`,
    );
    await Promise.all([using, load.done]);
    loads.push(load);
    await maintain(scene);
    return { seen: `${readsPerSeal} reads and a seventh of the residents changed meanwhile` };
  });

  await take("change the schema meanwhile", async () => {
    await changeSchema(source, target);
    return { seen: "replication stops until the new server has the same change" };
  });

  await take("begin a partition of the audit meanwhile", async () => {
    await extendAudit(source, target, as);
    return { seen: "replication stops until the new server has it, too" };
  });

  await take(
    "stop the writers",
    async () => {
      // they wait, and more are submitted while nobody is there
      await setPaused(scene.sql, true);
      const load = new Load(scene, { messages: numbers.length * messagesPerPhone.switching });
      loads.push(load);
      while (load.accepted.length < numbers.length) await Promise.race([load.done, setTimeout(10)]);
      await fleet.grow(0);
      const accepted = load.accepted.length;
      if (without !== "fence") await replication.fence(source);
      // a function that was not told still has the old address
      const refused = await readResidents(as, 1).then(
        () => undefined,
        ({ code }: { code?: string }) => code,
      );
      return {
        seen: `the messenger is stopped with ${accepted} messages that wait, the old server lets nobody in`,
        wrongs: [
          ...(refused === "53300" ? [] : [`a function can still write to the old server (${refused})`]),
          ...(await replication.listLocks(source)),
        ],
      };
    },
    { recovers: true },
  );

  await take(
    "replicate the rest, copy the sequences",
    async () => {
      await replication.untilApplied(source);
      const copied = without === "sequences" ? 0 : await replication.copySequences(source, target);
      await replication.unsubscribe(source, target);
      return { seen: `${copied} sequences`, wrongs: await replication.compareSequences(source, target) };
    },
    { recovers: true },
  );

  await take(
    "compare both",
    async () => {
      const [before, after] = [comparable(await readFacts(source)), comparable(await readFacts(target))];
      seals = before.counts.get("audit.seal") ?? 0;
      await scene.database.server.stop("immediate");
      const rows = [...after.counts.values()].reduce((sum, rows) => sum + rows, 0);
      return {
        seen: `${after.counts.size} tables with ${rows} rows; the old server is off`,
        wrongs: compareFacts(before, after),
      };
    },
    { recovers: true },
  );

  await take(
    "deploy on it, start the messenger",
    async () => {
      moveSecrets(scene, port);
      await runFunction(scene, "migrate", {
        DATABASE_SECRET_ID: localSecretName("database/admin"),
        ...{ DATABASE_HOST: "127.0.0.1", DATABASE_PORT: String(port), DATABASE_NAME: "municipal" },
        SECRETS_PREFIX: localSecretName("" as "database/admin"),
      });
      await fleet.grow(1);
      await platform.until(() => platform.sockets.loggedIn === 1, timeoutMs);
      await as("messenger", (sql) => setPaused(sql, false));
      return { seen: "passwords of all roles; it logs in without pairing" };
    },
    { recovers: true },
  );

  await take("look at every message", async () => {
    const verdicts = await as("messenger", async (sql) => {
      const found: Verdict[] = [];
      for (const load of loads) found.push(await judge({ ...scene, sql }, load, timeoutMs));
      return found;
    });
    const sum = (what: "accepted" | "repeats" | "resent") =>
      verdicts.reduce((total, verdict) => total + verdict[what], 0);
    return {
      seen: `${sum("accepted")} messages, each shown once, in order; ${sum("repeats")} requests repeated meanwhile, ${sum("resent")} sent again`,
      wrongs: verdicts.flatMap(({ wrongs }) => wrongs),
    };
  });
  await take("verify the residents", () => checkResidents(scene));
  await take("try a partner's key", () => checkKey(as, key));
  await take("look for opt-outs", () => checkOptOuts(scene, as, optedOut));
  await take("decrypt the pairing", () => checkPairing(scene, as));
  await take("go on, verify the audit", async () => {
    await changeResidents(as);
    await maintain(scene);
    return checkAudit(scene, seals);
  });
};

/**
 * Moves a city to a server of another version by logical replication, while it is used. The bundles must have been
 * built.
 */
export const runUpgrade = async (options: UpgradeOptions): Promise<{ readonly steps: readonly Step[] }> => {
  const folder = mkdtempSync(join(tmpdir(), "upgrade-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const settings = { wal_level: "logical" };
    const scene = await startScene(options.phones, { settings, programs: options.fromBinaries });
    stops.push(() => scene.stop());
    const { steps, take } = stepsWith(options);
    await upgradeAll({ scene, as: asRoleOf(scene), take, folder, stops }, options);
    return { steps };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
};
