import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { connectionTo } from "#lib/db/credentials.ts";
import { removeData } from "../../../infra/local/postgres/installation.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { openSuperuser, type Scene, startScene } from "../chaos/scene.ts";
import { openArchive } from "./backup.ts";
import { type As, readsPerSeal } from "./city.ts";
import { dumpAndRestore, explainMissingDump } from "./dumps.ts";
import { type LossOptions, loseAll } from "./lose.ts";
import { recoverAll } from "./recover.ts";
import { hasPassed, type Report, type Step, type Take } from "./report.ts";

export interface DrillOptions extends LossOptions {
  /** Phones that get messages. */
  readonly phones: number;
  /** Whether to dump and restore with pg_dump, too, if it is installed. */
  readonly dumps?: boolean;
  readonly onStep?: (step: Step) => void;
  /** Ends the drill after the step in progress. */
  readonly signal?: AbortSignal;
}

/** Runs work as a role, with the credentials that its secret has then. */
export const asRoleOf =
  ({ store }: Scene): As =>
  async (role, work) => {
    const sql = postgres({
      ...connectionTo(readLocalSecret(`database/${role}`, store)),
      ...{ max: 1, fetch_types: false, onnotice: () => {} },
    });
    return work(sql).finally(() => sql.end());
  };

export const stepsWith = ({ onStep, signal }: Pick<DrillOptions, "onStep" | "signal">) => {
  const steps: Step[] = [];
  const take: Take = async (name, work, { recovers = false } = {}) => {
    if (signal?.aborted || !hasPassed({ steps })) return;
    const started = performance.now();
    const found = await work().catch((error: Error) => ({ seen: "", wrongs: [error.message] }));
    const seconds = (performance.now() - started) / 1_000;
    const step = { name, seconds, recovers, seen: found.seen, wrongs: found.wrongs ?? [] };
    steps.push(step);
    onStep?.(step);
  };
  return { steps, take };
};

/** @returns why no dumps were made, if none were. */
const tryDumps = async (parts: { scene: Scene; take: Take }, port: number, folder: string) => {
  const { fleet, store } = parts.scene;
  const sql = openSuperuser(store, port);
  const missing = await explainMissingDump(sql).finally(() => sql.end());
  if (missing) return missing;
  // nothing must change between a dump and the comparison
  await fleet.grow(0);
  await dumpAndRestore({ ...parts, port, folder });
  return undefined;
};

/**
 * Loses a city with its database, and restores it from a physical backup and the archived log. The bundles must have
 * been built.
 */
export const runDrill = async (options: DrillOptions): Promise<Report> => {
  const folder = mkdtempSync(join(tmpdir(), "drill-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const archive = openArchive(folder);
    for (const name of ["base", "log"]) stops.push(() => removeData(join(folder, name)));
    stops.push(() => destroyServer(join(folder, "restored/postgres")));
    const scene = await startScene(options.phones, { settings: archive.archiving });
    stops.push(() => scene.stop());
    const { steps, take } = stepsWith(options);
    const parts = { scene, archive, as: asRoleOf(scene), take };
    const memory = await loseAll(parts, options);
    const port = await recoverAll({ ...parts, folder, stops }, memory);
    const withoutDumps =
      options.dumps && hasPassed({ steps }) ? await tryDumps(parts, port, folder) : undefined;
    const { later, lostSeconds } = memory;
    const lost = {
      "reads with their seal": readsPerSeal,
      "messages that were sent, of which the product knows nothing": later.sent.length,
      "messages that were accepted and are never sent": later.waiting.length,
    };
    return { steps, withoutDumps, lostSeconds, lost };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
};
