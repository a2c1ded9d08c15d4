import { rmSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { removeData } from "../../../infra/local/postgres/installation.ts";
import { openSuperuser, type Scene } from "../chaos/scene.ts";
import { settle } from "../chaos/verdict.ts";
import type { Archive } from "./backup.ts";
import {
  type As,
  arrived,
  fillCity,
  maintain,
  readResidents,
  readsPerSeal,
  submitRounds,
  untilArrived,
} from "./city.ts";
import { type Facts, readFacts } from "./facts.ts";
import type { Take } from "./report.ts";

export interface LossOptions {
  readonly residents: number;
  /** Changes the database before it is backed up, as somebody who must not. */
  readonly tamper?: (sql: postgres.Sql) => Promise<unknown>;
}

/** What was known when the last part of the log was archived. */
export interface Memory {
  readonly key: string;
  readonly optedOut: readonly string[];
  readonly facts: Facts;
  /** Messages that waited. */
  readonly waiting: readonly string[];
  /** Messages that were accepted later: sent ones, and ones that still waited. */
  readonly later: { readonly sent: readonly string[]; readonly waiting: readonly string[] };
  readonly lostSeconds: number;
}

const timeoutMs = 30_000;

const secondsSince = (moment: number): number => (performance.now() - moment) / 1_000;

/**
 * Fills a city, backs its database up while it is in use, uses it until a part of its log is not archived, and loses
 * the server with its data.
 */
export const loseAll = async (
  { scene, archive, as, take }: { scene: Scene; archive: Archive; as: As; take: Take },
  { residents, tamper }: LossOptions,
): Promise<Memory> => {
  const { platform, fleet, numbers, store, database } = scene;
  const source = openSuperuser(store, database.server.port);
  const memory = {
    key: "",
    optedOut: numbers.map((number) => `${number}9`),
    facts: { counts: new Map(), schema: [], roles: [] } as Facts,
    waiting: [] as string[],
    later: { sent: [] as string[], waiting: [] as string[] },
    lostSeconds: 0,
  };
  let archived = 0;

  await take("fill the city", async () => {
    memory.key = (await fillCity(scene, as, residents, memory.optedOut)).key;
    await readResidents(as, readsPerSeal);
    await maintain(scene);
    await tamper?.(source);
    const ids = await submitRounds(scene, "api:before", 2);
    await untilArrived(scene, ids);
    return { seen: `${residents} residents, ${readsPerSeal} reads, ${ids.length} messages sent` };
  });

  await take("back it up while it is used", async () => {
    const using = submitRounds(scene, "api:meanwhile", 1);
    await archive.backUp(source);
    await untilArrived(scene, await using);
    return { seen: "pg_backup_start, copy of the data, pg_backup_stop" };
  });

  await take("go on, archive the log", async () => {
    await readResidents(as, readsPerSeal);
    await maintain(scene);
    const ids = await submitRounds(scene, "api:after", 1);
    await untilArrived(scene, ids);
    await settle(scene, timeoutMs);
    await setPaused(scene.sql, true);
    memory.waiting = await submitRounds(scene, "api:waiting", 2);
    // so that nothing changes between the facts and the end of the archived log
    await fleet.grow(0);
    memory.facts = await readFacts(source);
    archived = performance.now();
    await archive.archiveLog(source);
    return { seen: `${readsPerSeal} reads, ${ids.length} messages sent, ${memory.waiting.length} wait` };
  });

  await take("go on, lose everything", async () => {
    await fleet.grow(1);
    await readResidents(as, readsPerSeal);
    await maintain(scene);
    memory.later.sent = await submitRounds(scene, "api:later", 1);
    // slowly, so that some of the messages that wait are sent, and some are not
    platform.behave({ receipts: ["delivered"], ackDelayMs: 50 });
    await setPaused(scene.sql, false);
    await untilArrived(scene, [...memory.waiting, ...memory.later.sent], memory.waiting.length);
    await setPaused(scene.sql, true);
    memory.later.waiting = await submitRounds(scene, "api:never", 1);
    await fleet.crash(0);
    const { sent, waiting } = memory.later;
    const left = new Set(arrived(scene, sent));
    memory.later = {
      sent: sent.filter((id) => left.has(id)),
      waiting: [...waiting, ...sent.filter((id) => !left.has(id))],
    };
    await database.server.stop("immediate");
    memory.lostSeconds = secondsSince(archived);
    await Promise.all([source, scene.sql].map((sql) => sql.end({ timeout: 0 })));
    const folder = join(scene.folder, "postgres");
    removeData(folder);
    rmSync(folder, { force: true });
    platform.behave({ receipts: ["delivered"] });
    return { seen: `${readsPerSeal} reads, sealed; then the server, its data and the messenger are gone` };
  });
  return memory;
};
