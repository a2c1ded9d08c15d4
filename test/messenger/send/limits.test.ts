import { expect, test } from "vitest";
import type { Limits } from "#lib/channels/channel.ts";
import { steadyNow } from "#lib/deadline.ts";
import { askLimits, type LimitOptions, learnAnnouncement } from "#lib/messenger/send/limits.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { unusedAccount } from "../../fleet/unused-account.ts";

test("limits that are announced during a query are not undone by its answer", async () => {
  const { sql } = await createMessengerDatabase();
  const inAnHour = new Date(Date.now() + 3_600_000);
  const cap = { total: 10, used: 10, endsAt: inAnHour };
  const pacing = new Pacing(noPace, unusedAccount);
  const fetchLimits = async (): Promise<Limits> => {
    await learnAnnouncement(options, { lockedUntil: inAnHour, cap });
    return { lockedUntil: null, cap: null };
  };
  const signal = new AbortController().signal;
  const options: LimitOptions = { sql, pacing, signal, channel: { isOpen: () => true, fetchLimits } };
  await askLimits(options);
  expect(pacing.capAt(steadyNow())).toMatchObject({ total: 10, used: 10 });
  expect(await sql`select cap_used, locked_until > now() as locked from messaging.number`).toEqual([
    { cap_used: 10, locked: true },
  ]);
});
