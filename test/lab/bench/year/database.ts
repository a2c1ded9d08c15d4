import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import postgres from "postgres";
import { types } from "#lib/db/credentials.ts";
import type { LoginRole } from "#lib/db/roles.ts";
import { mintedSecrets, type SecretName, secretTable } from "#lib/secrets/table/table.ts";
import { startDatabase } from "../../../../infra/local/database.ts";
import { destroyServer } from "../../../../infra/local/postgres/server.ts";
import { startBucket } from "../../../../infra/local/s3/bucket.ts";
import { startSecretsServer } from "../../../../infra/local/secrets/server.ts";
import { localSecretName, openStore, type SecretStore } from "../../../../infra/local/secrets/store.ts";
import { serverSettings } from "../resident-database.ts";
import type { Group } from "./groups.ts";
import type { Row } from "./measure.ts";
import type { Sizes } from "./sizes.ts";

/** What a process that measures needs to know. */
export interface Task {
  readonly group: string;
  readonly sizes: Sizes;
  readonly samples: number;
}

export interface YearDatabase {
  /** One connection of the superuser, for the data. */
  readonly owner: postgres.Sql;
  /** One connection of a role. */
  connectAs(role: LoginRole): postgres.Sql;
  /** Measures in a process of its own, which has the role, the secrets and the settings of the product's. */
  measure(group: Group, task: Task): Promise<readonly Row[]>;
}

/** As long as it is measured, nothing else works: its bloat would be that of the bench, not of a year. */
const settings = { ...serverSettings, autovacuum: "off", fsync: "off", synchronous_commit: "off" };

/** Whether the first change of a page after a checkpoint writes the whole page into the write-ahead log, as an RDS instance does. */
export const setFullPages = async (owner: postgres.Sql, on: boolean): Promise<void> => {
  await owner.unsafe(`alter system set full_page_writes = ${on ? "on" : "off"}`);
  await owner`select pg_reload_conf()`;
  // the process that makes it reads the settings before
  await owner`checkpoint`;
};

const named = (name: SecretName) => localSecretName(name);

const startChild = async (
  { role, pepper }: Group,
  task: Task,
  variables: Readonly<Record<string, string>>,
): Promise<readonly Row[]> => {
  const child = fork(new URL("process.ts", import.meta.url), {
    execArgv: [],
    env: { ...variables, DATABASE_SECRET_ID: named(`database/${role}`), PEPPER_SECRET_ID: named(pepper) },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const printed: string[] = [];
  if (child.stderr)
    createInterface(child.stderr).on("line", (line) => {
      printed.push(line);
      console.error(line);
    });
  child.send(task);
  const ended = once(child, "close").then(([code]) => {
    throw new Error(`the measurement of ${task.group} ended with ${code}: ${printed.slice(-20).join("\n")}`);
  });
  const [rows] = (await Promise.race([once(child, "message"), ended])) as [readonly Row[]];
  return rows;
};

const openSecrets = (): SecretStore => {
  const store = openStore(undefined);
  for (const name of mintedSecrets) store.put(named(name), JSON.stringify(secretTable[name].mint()));
  return store;
};

/** Runs work with a database that has the schema and the roles of a stage, and is removed afterwards. Nothing is flushed to disk. */
export const withYearDatabase = async <T>(work: (database: YearDatabase) => Promise<T>): Promise<T> => {
  const folder = join(mkdtempSync(join(tmpdir(), "bench-")), "postgres");
  const interrupt = () => {};
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const store = openSecrets();
  const secrets = await startSecretsServer(store);
  const bucket = await startBucket();
  const connections: postgres.Sql[] = [];
  const keep = (sql: postgres.Sql) => {
    connections.push(sql);
    return sql;
  };
  try {
    const database = await startDatabase(folder, store, true, { settings });
    const password = store.find(localSecretName("database/superuser"))?.value ?? "";
    const ownerUrl = `postgres://postgres:${password}@127.0.0.1:${database.server.port}/municipal`;
    const variables = {
      ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
      ...{ AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url, AUDIT_ANCHORS_URL: bucket.url },
      ...{ DATABASE_TLS: "disable", DATABASE_URL: ownerUrl, LOG_LEVEL: "error", TZ: ":UTC" },
      CONSOLE_DATABASE_SECRET_ID: named("database/console"),
      ...{ TOKEN_KEY_SECRET_ID: named("token-key"), MESSENGER_KEY_SECRET_ID: named("messenger-key") },
    };
    const owner = keep(postgres(ownerUrl, { max: 1, fetch_types: false, types, onnotice: () => {} }));
    await setFullPages(owner, false);
    return await work({
      owner,
      connectAs: (role) => keep(database.connectAs(role)),
      measure: (group, task) => startChild(group, task, variables),
    });
  } finally {
    await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
    await destroyServer(folder);
    await Promise.all([secrets.stop(), bucket.stop()]);
    rmSync(join(folder, ".."), { recursive: true, force: true });
  }
};
