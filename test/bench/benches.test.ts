import { expect, test, vi } from "vitest";
import { routes } from "#lib/routes/index.ts";
import { benchAccept } from "./accept.ts";
import { benchBurst } from "./burst.ts";
import { benchColdStart } from "./cold-start.ts";
import { benchDelivery } from "./delivery.ts";
import { benchEnvironments } from "./environments.ts";
import { benchImport } from "./import.ts";
import { benchMemory } from "./memory.ts";
import { benchOutbox } from "./outbox.ts";
import { benchResidents } from "./residents.ts";

// with one sample of each: what is measured means nothing here

const effort = { samples: 1, plainMs: 0, readMs: 0, writeMs: 50, writeRounds: 1 };

const quiet = () => {
  for (const method of ["error", "log"] as const) vi.spyOn(console, method).mockReturnValue();
};

test.each([
  ["accept", () => benchAccept({ sends: 1, rounds: 1 })],
  ["burst", () => benchBurst({ requests: 2, offered: [2] })],
  ["delivery", () => benchDelivery({ sends: 1 })],
  ["import", () => benchImport({ rows: 1_000, beside: 1_000, rounds: 1 })],
  ["memory", () => benchMemory({ messages: 1, recipients: 1, uploads: { compressed: 1, plain: 1 } })],
  ["outbox", () => benchOutbox({ sends: 5, measured: 1 })],
  ["residents", () => benchResidents({ rows: 1_000, beside: 1_000, effort })],
])("the bench %s runs", async (name, run) => {
  quiet();
  const { bench, figures } = await run();
  expect(bench.startsWith(name)).toBe(true);
  expect(JSON.parse(JSON.stringify(figures))).not.toEqual({});
});

test("environments that compete for the connections of the smallest server cause no 500, and operators still connect", async () => {
  quiet();
  const { figures } = await benchEnvironments({ requests: 200, environments: 40, offered: [2] });
  const { burst } = figures as { burst: Record<string, number> };
  expect([burst["500"], (burst.served ?? 0) + (burst["503"] ?? 0)]).toEqual([0, 200]);
  expect(burst.operatorMs).toBeDefined();
});

test("the bench of cold starts measures every route", async () => {
  quiet();
  const { figures } = await benchColdStart({ pairs: 1 });
  const measured = (figures as { functions: { function: string }[] }).functions.map(({ function: fn }) => fn);
  expect(measured).toEqual(expect.arrayContaining(routes.map(({ fn }) => fn)));
});
