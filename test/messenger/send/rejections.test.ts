import { expect, test, vi } from "vitest";
import { findState } from "#lib/messenger/outbox/state.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { number } from "../../fleet/outbox-rows.ts";
import {
  acked,
  eventually,
  lead,
  platform,
  put,
  sent,
  sql,
  stateOf,
  untilIdle,
  useSender,
} from "./sender-steps.ts";

vi.stubEnv("LOG_LEVEL", "error");

useSender();

test("a rejected message has failed, with the platform's code", async () => {
  platform.verdicts = async () => ({ outcome: "rejected", code: "400" });
  const id = await put();
  await lead();
  await eventually(id, "FAILED");
  expect((await findState(sql, id))?.reason).toContain("400");
});

test("code 463 holds back only new contacts, and loses no message", async () => {
  await sql`insert into messaging.contact (number, phone) values (${number}, '6281200000009')`;
  platform.verdicts = async ({ phone }) =>
    phone.endsWith("9") ? acked : { outcome: "rejected", code: "463" };
  const stranger = await put("6281200000001");
  const other = await put("6281200000002");
  const friend = await put("6281200000009");
  await lead();
  await eventually(friend, "SENT");
  expect([await stateOf(stranger), await stateOf(other), sent.length]).toEqual(["PENDING", "PENDING", 2]);
});

test("code 463 for a known contact defers its message by an hour, and does not count as an attempt", async () => {
  const friend = await put("6281200000009");
  await sql`insert into messaging.contact (number, phone) values (${number}, '6281200000009')`;
  platform.verdicts = async () => (sent.length === 1 ? { outcome: "rejected", code: "463" } : acked);
  const stop = await lead();
  await untilIdle();
  expect([await stateOf(friend), sent]).toEqual(["PENDING", [friend]]);
  const [row] = await sql`
    select attempts, not_before > now() + interval '59 minutes' as waits from messaging.message`;
  expect(row).toEqual({ attempts: 0, waits: true });
  await stop();
  await sql`update messaging.message set not_before = not_before - interval '1 hour'`;
  await lead();
  await eventually(friend, "SENT");
});

test("after code 429 nothing is sent to any number before the wait ends", async () => {
  platform.verdicts = async () => ({ outcome: "rejected", code: "429" });
  const [first, other] = [await put(), await put("6281200000002")];
  await lead({ ...noPace, retryMs: [3_600_000, 3_600_000] });
  await expect.poll(() => sent).toEqual([first]);
  await untilIdle();
  expect([await stateOf(first), await stateOf(other), sent]).toEqual(["PENDING", "PENDING", [first]]);
  const [row] = await sql`
    select attempts, not_before > now() + interval '59 minutes' as waits from messaging.message where id = ${first}`;
  expect(row).toEqual({ attempts: 0, waits: true });
});

test("after code 503 only its number waits, in its order", async () => {
  platform.verdicts = async ({ phone }) =>
    phone.endsWith("1") ? { outcome: "rejected", code: "503" } : acked;
  const [first, second, other] = [await put(), await put(), await put("6281200000002")];
  await lead({ ...noPace, retryMs: [3_600_000, 3_600_000] });
  await eventually(other, "SENT");
  await untilIdle();
  expect([await stateOf(first), await stateOf(second), sent]).toEqual(["PENDING", "PENDING", [first, other]]);
});

test("the wait after code 429 survives a restart, also for other numbers", async () => {
  platform.verdicts = async () => ({ outcome: "rejected", code: "429" });
  const [first, other] = [await put(), await put("6281200000002")];
  const stop = await lead({ ...noPace, retryMs: [3_600_000, 3_600_000] });
  await expect.poll(() => sent).toEqual([first]);
  await untilIdle();
  await stop();
  await lead();
  await untilIdle();
  expect([sent, await stateOf(other)]).toEqual([[first], "PENDING"]);
  const [row] =
    await sql`select stopped_until > now() + interval '59 minutes' as waits from messaging.number`;
  expect(row).toEqual({ waits: true });
});

test("code 475 holds back new contacts for an hour when the platform does not say whether there is a cap", async () => {
  platform.verdicts = async () => ({ outcome: "rejected", code: "475" });
  platform.limits = () => Promise.reject(new Error("unavailable"));
  const [stranger, other] = [await put(), await put("6281200000002")];
  await lead();
  await expect.poll(() => sent).toEqual([stranger]);
  await untilIdle();
  expect([sent, await stateOf(stranger), await stateOf(other)]).toEqual([[stranger], "PENDING", "PENDING"]);
  const [row] = await sql`select paused_until > now() + interval '59 minutes' as waits from messaging.number`;
  expect(row).toEqual({ waits: true });
});
