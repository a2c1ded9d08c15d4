import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { messengerSecrets } from "#lib/routes/internal.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type LocalDatabase, startDatabase } from "../../../infra/local/database.ts";
import { atPort, type Via } from "../../../infra/local/loopback.ts";
import { keepPaired } from "../../../infra/local/messenger/messenger.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { type Bucket, startBucket } from "../../../infra/local/s3/bucket.ts";
import { startSecretsServer } from "../../../infra/local/secrets/server.ts";
import {
  localSecretName,
  openStore,
  readLocalSecret,
  type SecretStore,
} from "../../../infra/local/secrets/store.ts";
import { type Platform, startPlatform } from "../../../infra/local/whatsapp/platform.ts";
import { Fleet } from "./fleet.ts";

/** Everything around the messenger's tasks, which are processes that can be killed. */
export interface Scene {
  /** The database is in `postgres`. */
  readonly folder: string;
  readonly platform: Platform;
  readonly database: LocalDatabase;
  /** The anchors of the audit's seals. */
  readonly bucket: Bucket;
  /** One connection of the messenger's role. */
  readonly sql: postgres.Sql;
  readonly fleet: Fleet;
  /** What opens the tasks. */
  readonly token: string;
  /** Numbers with a phone. */
  readonly numbers: readonly string[];
  readonly store: SecretStore;
  /** Environment variables of the tasks. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

interface SceneOptions {
  readonly via?: Via;
  readonly viaBySeat?: readonly Via[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly programs?: string | undefined;
}

/** Opens one connection of the superuser: only that one may see and set everything. */
export const openSuperuser = (store: SecretStore, port: number, database = "municipal"): postgres.Sql =>
  postgres({
    ...{ host: "127.0.0.1", port, database, username: "postgres" },
    password: store.find(localSecretName("database/superuser"))?.value ?? "",
    max: 1,
    fetch_types: false,
    onnotice: () => {},
  });

/** The messenger's secrets but its role's. @returns the variables that name them all. */
const putSecrets = (store: SecretStore) => {
  const names = ["messenger-token", "messenger-key", "messenger-console", "opt-out-pepper"] as const;
  for (const name of [...names, "messenger-channels"] as const)
    store.put(localSecretName(name), JSON.stringify(secretTable[name].mint()));
  return Object.fromEntries(
    Object.entries(messengerSecrets).map(([variable, name]) => [variable, localSecretName(name)]),
  );
};

const numberOf = (index: number) => String(6_281_200_000_001 + index);

/** Has the phone scan the QR of the fleet's first task. */
const pair = async ({ platform, fleet, token }: Omit<Scene, "stop">) => {
  const ending = new AbortController();
  const pairing = keepPaired(platform, { url: fleet.urls()[0] ?? "", token }, ending.signal);
  await platform
    .until(() => platform.sockets.loggedIn === 1, 15_000)
    .finally(() => {
      ending.abort();
      return pairing;
    });
};

/**
 * Starts a database, a platform with so many phones, and one task that is paired. The bundle must have been
 * built. What was stored outlives a crash of the database, as in the cloud.
 *
 * @param via the ports of wires to the database and the platform.
 * @param viaBySeat the same, for the task of each seat.
 * @param variables environment variables of the tasks besides those that connect them.
 * @param settings of the database's server.
 * @param programs folder of another version of PostgreSQL.
 */
export const startScene = async (
  phones: number,
  { via, viaBySeat = [], variables = {}, settings, programs }: SceneOptions = {},
): Promise<Scene> => {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), "faults-"));
    stops.push(() => rmSync(folder, { recursive: true, force: true }));
    const store = openStore(undefined);
    const secretIds = putSecrets(store);
    const { token } = readLocalSecret("messenger-token", store);
    stops.push(() => destroyServer(`${folder}/postgres`));
    const database = await startDatabase(`${folder}/postgres`, store, true, { via, settings, programs });
    stops.push(() => database.server.stop());
    const sql = database.connectAs("messenger");
    stops.push(() => sql.end({ timeout: 1 }));
    const secrets = await startSecretsServer(store);
    stops.push(() => secrets.stop());
    const bucket = await startBucket();
    stops.push(() => bucket.stop());
    const numbers = Array.from({ length: phones }, (_, index) => numberOf(index));
    const platform = await startPlatform({ phones: numbers });
    platform.behave({ receipts: ["delivered"] });
    stops.push(() => platform.stop());
    const credentials = readLocalSecret("database/messenger", store);
    const variablesBySeat = await Promise.all(
      viaBySeat.map(async (own, seat) => {
        const id = `${localSecretName("database/messenger")}-${seat}`;
        const port = await own("database", database.server.port);
        store.put(id, JSON.stringify({ ...credentials, port }));
        return { DATABASE_SECRET_ID: id, PLATFORM_URL: await atPort(platform.url, "platform", own) };
      }),
    );
    const all = {
      ...secretIds,
      AWS_REGION: "ap-southeast-3",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
      AUDIT_ANCHORS_URL: bucket.url,
      DATABASE_TLS: "disable",
      PLATFORM_URL: await atPort(platform.url, "platform", via),
      PLATFORM_ROOT_KEY: platform.rootKey.toString("base64"),
      PLATFORM_MEDIA_CA: platform.mediaCa,
      MESSENGER_PACE: "off",
      MESSENGER_HOST: "127.0.0.1",
      MESSENGER_PORT: "0",
      ...variables,
    };
    const fleet = new Fleet(all, variablesBySeat);
    stops.push(() => fleet.stop());
    await fleet.grow(1);
    const scene = { folder, platform, database, bucket, sql, fleet, token, numbers, store, variables: all };
    await pair(scene);
    return { ...scene, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
