import { describe, expect, test } from "vitest";
import { noPace } from "#lib/messenger/send/pace.ts";
import {
  eventually,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  stateOf,
  submit,
  untilOpen,
} from "../fleet/running-task.ts";

stageEachTest();

describe("when the platform", () => {
  test("drops the connection before its answer, the message is sent again under the same id", async () => {
    const task = await startOpen();
    // a receipt would count as an answer
    platform.behave({ dropBeforeAck: 1, receipts: [] });
    const { id } = await submit(task, {});
    await eventually(task, id, "SENT");
    expect([platform.phone(phone).inbox.length, platform.arrivalsOf(id)]).toEqual([1, 2]);
  });

  test("is down for a while, all messages accepted meanwhile arrive in order", async () => {
    const task = await startOpen();
    await eventually(task, (await submit(task, { text: "0" })).id, "READ");
    platform.leave();
    const ids: string[] = [];
    for (let i = 1; i <= 20; i++) ids.push((await submit(task, { text: String(i) })).id);
    platform.comeBack();
    await eventually(task, ids.at(-1) ?? "", "READ");
    expect(platform.phone(phone).inbox.map(({ text }) => Number(text))).toEqual(
      Array.from({ length: 21 }, (_, i) => i),
    );
  });

  test("has accepted messages from an earlier task in this hour, they count for this one", async () => {
    await sql`
      insert into messaging.message (id, sender, kind, phone, content, state, expires_at, number, sent_at)
      values ('EARLIER', 'api:test', 'text', ${phone}, '{}', 'READ', now(), ${platform.account.number}, now())`;
    const task = await start({ ...noPace, perHour: 2 });
    const [first, second] = [await submit(task, {}), await submit(task, {})];
    await untilOpen(task);
    await eventually(task, first.id, "READ");
    expect((await stateOf(task, second.id)).status).toBe("PENDING");
  });

  test("rejects a message, it has failed with the platform's code", async () => {
    const task = await startOpen();
    platform.behave({ nack: { code: 499, messages: 1 } });
    const { id } = await submit(task, {});
    await eventually(task, id, "FAILED");
    expect((await stateOf(task, id)).reason).toContain("499");
  });

  test("removes the link, pairing starts again by itself where that is set, and nothing is lost", async () => {
    const task = await start(noPace, { pairsByItself: true });
    await untilOpen(task);
    platform.disconnect(401);
    await expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toBe("pairing");
    const { id } = await submit(task, {});
    await untilOpen(task);
    await eventually(task, id, "READ");
  });
});
