import { describe, expect, test, vi } from "vitest";
import type { SendOutcome } from "#lib/channels/channel.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { expire, returnToQueue } from "#lib/messenger/outbox/lifecycle.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { applyReceipt } from "#lib/messenger/outbox/receipt.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { untilBlocked } from "../../fleet/blocked-connections.ts";
import { failNextWrite } from "../../fleet/next-write.ts";
import { beginTerm, takeAny } from "../../fleet/outbox-rows.ts";
import {
  acked,
  composed,
  database,
  eventually,
  lead,
  platform,
  put,
  sent,
  sql,
  stateOf,
  untilIdle,
  useSender,
  wakeup,
} from "./sender-steps.ts";

vi.stubEnv("LOG_LEVEL", "error");

useSender();

describe("the order", () => {
  test("is by class, then by acceptance", async () => {
    const bulk = await put("6281200000001", "bulk");
    const reminder = await put("6281200000002", "reminder");
    const [first, second] = [await put(), await put()];
    const code = await put("6281200000003", "one-time-code");
    await lead();
    await eventually(bulk, "SENT");
    expect(sent).toEqual([code, first, second, reminder, bulk]);
  });

  test("of messages to a number does not change when a send gets no answer", async () => {
    let failures = 2;
    platform.verdicts = async () => {
      if (failures-- > 0) throw new Error("cut");
      return acked;
    };
    const ids = [await put(), await put(), await put()];
    await lead();
    await eventually(ids[2] ?? "", "SENT");
    expect(sent).toEqual([ids[0], ids[0], ...ids]);
    expect(composed).toEqual(ids);
  });

  test("of messages to a number does not change when a leader finds one requeued for later", async () => {
    const [first, second] = [await put(), await put()];
    const other = await put("6281200000002");
    const epoch = await beginTerm(sql);
    const taken = await takeAny(sql, epoch);
    expect(taken?.id).toBe(first);
    await returnToQueue(sql, taken as Outgoing, { cost: "nothing", delaySeconds: 3_600 });
    const stop = await lead();
    await eventually(other, "SENT");
    await untilIdle();
    expect(await stateOf(second)).toBe("PENDING");
    await stop();
    await sql`update messaging.message set not_before = now(), held_until = null`;
    await lead();
    await eventually(second, "SENT");
    expect(sent).toEqual([other, first, second]);
  });

  test("survives a handover: a term starts after the previous leader has taken its last message", async () => {
    const id = await put();
    const epoch = await beginTerm(sql);
    let next: Promise<number> | undefined;
    await sql.begin(async (before) => {
      expect(await takeAny(before, epoch)).toMatchObject({ id });
      next = beginTerm(sql);
      next.catch(() => {});
      await untilBlocked(sql);
    });
    expect(await next).toBe(epoch + 1);
    await lead();
    await eventually(id, "SENT");
    expect(sent).toEqual([id]);
  });
});

test("nothing is sent while the platform is down, and everything afterwards", async () => {
  platform.isOpen = false;
  const id = await put();
  await lead();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
  platform.isOpen = true;
  wakeup.notify();
  await eventually(id, "SENT");
});

test("nothing is sent while the operator has paused sending", async () => {
  await sql`update messaging.control set paused = true`;
  const id = await put();
  await lead();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
  await sql`update messaging.control set paused = false`;
  await eventually(id, "SENT");
});

test("a message that expires while its number is looked up is not sent", async () => {
  platform.registered = async () => {
    await expect
      .poll(() => sql`select from messaging.message where expires_at < now()`, { interval: 50 })
      .toHaveLength(1);
    return true;
  };
  const id = await put();
  await sql`update messaging.message set expires_at = now() + interval '1 second' where id = ${id}`;
  await lead();
  await eventually(id, "PENDING");
  await untilIdle();
  expect(composed).toEqual([id]);
  await expire(sql);
  expect([sent, await stateOf(id)]).toEqual([[], "EXPIRED"]);
});

test("messages to an unregistered number fail, with one lookup", async () => {
  let asked = 0;
  platform.registered = async () => {
    asked += 1;
    return false;
  };
  const [first, second] = [await put(), await put()];
  await lead();
  await Promise.all([eventually(first, "FAILED"), eventually(second, "FAILED")]);
  expect([asked, sent]).toEqual([1, []]);
});

test("a known contact whose messages wait for any account is found at the limit, too", async () => {
  await lead({ ...noPace, newContactsPerDay: 0 }, 50);
  const id = await put("6281200000001");
  await untilIdle();
  expect(await stateOf(id)).toBe("PENDING");
  await sql`insert into messaging.contact (number, phone) values ('6281100000001', '6281200000001')`;
  await eventually(id, "SENT");
});

test("a number is a new contact only once; at the limit known contacts continue", async () => {
  const first = await put("6281200000001");
  const stranger = await put("6281200000002");
  const again = await put("6281200000001");
  await lead({ ...noPace, newContactsPerDay: 1 });
  await eventually(again, "SENT");
  await untilIdle();
  expect([await stateOf(stranger), sent]).toEqual(["PENDING", [first, again]]);
});

test("an acked message is not sent again when the database fails at that moment", async () => {
  const [first, second] = [await put(), await put()];
  await failNextWrite(database.admin, { table: "message", when: "new.state = 'SENT'" });
  await lead();
  await eventually(second, "SENT");
  expect([await stateOf(first), sent]).toEqual(["SENT", [first, second]]);
});

test("a send interrupted by a change of leader is repeated with the same payload", async () => {
  const id = await put();
  const answer = Promise.withResolvers<SendOutcome>();
  platform.verdicts = () => answer.promise;
  const stop = await lead();
  await expect.poll(() => sent.length).toBe(1);
  platform.verdicts = async () => acked;
  await lead();
  await eventually(id, "SENT");
  answer.resolve(acked);
  await stop();
  expect([sent, composed]).toEqual([[id, id], [id]]);
});

test("a former leader takes no messages", async () => {
  await lead();
  await beginTerm(sql);
  const id = await put();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
});

describe("receipts", () => {
  test("for a requeued message are final: it is not sent again", async () => {
    const id = await put();
    await applyReceipt(sql, firstAccount, id, "DELIVERED");
    const next = await put();
    await lead();
    await eventually(next, "SENT");
    expect([await stateOf(id), sent]).toEqual(["DELIVERED", [next]]);
  });

  test("that overtake the platform's answer are not overwritten by it", async () => {
    platform.verdicts = async ({ id }) => {
      await applyReceipt(sql, firstAccount, id, "READ");
      return acked;
    };
    const id = await put();
    await lead();
    await eventually(id, "READ");
    await expect
      .poll(async () => (await sql`select sent_at from messaging.message where id = ${id}`)[0]?.sent_at)
      .toBeInstanceOf(Date);
    expect(await stateOf(id)).toBe("READ");
  });
});
