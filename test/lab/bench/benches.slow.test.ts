import { expect, test, vi } from "vitest";
import { routes } from "#lib/routes/index.ts";
import { benchAccept } from "./accept.ts";
import { benchAccounts } from "./accounts.ts";
import { benchBurst } from "./burst.ts";
import { benchColdStart } from "./cold-start.ts";
import { benchStart, benchSuite, benchSynth } from "./commands.ts";
import { benchDelivery } from "./delivery.ts";
import { benchEnvironments } from "./environments.ts";
import { benchGrowth } from "./growth.ts";
import { benchIdleAccounts } from "./idle-accounts.ts";
import { benchImport } from "./import.ts";
import { benchMemory } from "./memory.ts";
import { benchOutbox } from "./outbox.ts";
import { ownPeers } from "./peers.ts";
import { benchResidents } from "./residents.ts";
import { benchVerify } from "./verify.ts";
import { benchWarm } from "./warm.ts";
import type { Row } from "./year/measure.ts";
import { slowByDesign } from "./year/slow-by-design.ts";
import { benchYear } from "./year.ts";

// with one sample of each: what is measured means nothing here

/** Each starts many processes, and the first run builds the documentation. */
vi.setConfig({ testTimeout: 900_000 });

const effort = { samples: 1, plainMs: 0, readMs: 0, readRounds: 1, writeMs: 50, writeRounds: 1 };

const few = { accounts: 2, tasks: 1, bans: 0, kills: 1, codes: 1, codeEveryMs: 0, accepts: 1 };

const quiet = () => {
  for (const method of ["error", "log"] as const) vi.spyOn(console, method).mockReturnValue();
};

test.each([
  ["accept", () => benchAccept({ sends: 1, rounds: 1 })],
  ["accounts", () => benchAccounts({ recipients: 10, effort: few })],
  ["burst", () => benchBurst({ requests: 2, offered: [2] })],
  ["delivery", () => benchDelivery({ sends: 1 })],
  ["idle-accounts", () => benchIdleAccounts({ accounts: [1, 2], measuredMs: 100 })],
  ["import", () => benchImport({ rows: 1_000, beside: 1_000, rounds: 1, samples: 1 })],
  ["memory", () => benchMemory({ messages: 1, recipients: 1, uploads: { compressed: 1, plain: 1 } })],
  ["outbox", () => benchOutbox({ sends: 5, measured: 1 })],
  ["residents", () => benchResidents({ rows: 1_000, beside: 1_000, effort })],
  ["start", () => benchStart({ rounds: 1 })],
  ["suite", () => benchSuite(["node", "--version"])],
  ["synth", () => benchSynth({ rounds: 1 })],
  ["verify", () => benchVerify({ rows: 1_000, requests: 10 })],
  ["warm", () => benchWarm({ requests: 1, peers: ownPeers })],
])("the bench %s runs", async (name, run) => {
  quiet();
  const { bench, figures } = await run();
  expect(bench.startsWith(name)).toBe(true);
  expect(JSON.parse(JSON.stringify(figures))).not.toEqual({});
});

test("environments that compete for the connections of the smallest server cause no 500, and operators still connect", async () => {
  quiet();
  const { figures } = await benchEnvironments({ requests: 60, environments: 20, offered: [2] });
  const { burst } = figures as { burst: Record<string, number> };
  expect([burst["500"], (burst.served ?? 0) + (burst["503"] ?? 0)]).toEqual([0, 60]);
  expect(burst.operatorMs).toBeDefined();
});

test("the bench of cold starts measures every route, and a peer that answers as ours do", async () => {
  quiet();
  const { figures, picture } = await benchColdStart({ pairs: 1, peers: ownPeers });
  const { functions, peers, callerWaits } = figures as Readonly<
    Record<string, readonly { function: string; peer: string }[]>
  >;
  expect(functions?.map((row) => row.function)).toEqual(expect.arrayContaining(routes.map(({ fn }) => fn)));
  expect(new Set(peers?.map((row) => row.peer))).toEqual(new Set(ownPeers));
  expect(new Set(callerWaits?.map((row) => row.function)).size).toBe(2);
  expect(picture).toContain("<title>");
});

test("the bench of growth measures what a message, a view and a seal leave in the database, and write into its log", async () => {
  quiet();
  const sizes = { residents: 2_000, messages: 3_000, audits: 2_400, seed: 1 };
  const { rows, stored } = (await benchGrowth({ ...sizes, sample: 100 })).figures as Readonly<
    Record<string, readonly Record<string, number>[]>
  >;
  const all = "`all`" as unknown;
  const each = (rows ?? []).filter((row) => row.each !== all);
  expect(each).toHaveLength(5);
  for (const row of each) expect(row["with pages"]).toBeGreaterThan(row["WAL bytes"] ?? Number.NaN);
  const tables = (stored ?? []).filter((row) => row.table !== all);
  // a seal has less than a page
  expect(tables.filter(({ bytes = 0 }) => bytes > 0).length).toBeGreaterThan(5);
});

test("the bench of a year measures every statement that it lets be slow, and the database's time for it", async () => {
  quiet();
  const sizes = { residents: 2_000, messages: 3_000, audits: 2_400, seed: 1 };
  const { bench, figures } = await benchYear({ ...sizes, samples: 1 });
  expect(bench).toBe("year-3000");
  const { rows } = figures as { rows: readonly Row[] };
  const isMeasured = (start: string) => rows.some(({ statement }) => statement.startsWith(start));
  expect(Object.keys(slowByDesign).filter((start) => !isMeasured(start))).toEqual([]);
  // an authorizer's connection ends with its look-up, and statements of a step are timed from outside
  const untimed = rows.filter((row) => row["CPU p50 ms"] === "").map(({ statement }) => statement);
  expect(untimed.filter((statement) => !/^(authorizers|maintenance|retention, )/.test(statement))).toEqual(
    [],
  );
});
