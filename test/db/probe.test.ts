import type postgres from "postgres";
import { expect, test, vi } from "vitest";
import { isDatabaseUp } from "#lib/db/outage.ts";
import { connectFor } from "../steps/connections.ts";

test("polls of a database that hangs share one query, and learn that it answers again", async () => {
  const sql = connectFor("messengerUrl");
  const counted = vi.fn((strings: TemplateStringsArray) => sql(strings));
  const polled = counted as unknown as postgres.Sql;
  const released = Promise.withResolvers<void>();
  const held = sql.begin(() => released.promise);
  expect([await isDatabaseUp(polled), await isDatabaseUp(polled)]).toEqual([false, false]);
  expect(counted).toHaveBeenCalledTimes(1);
  released.resolve();
  await held;
  await expect.poll(() => isDatabaseUp(polled)).toBe(true);
});
