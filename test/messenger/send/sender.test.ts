import { describe, expect, test, vi } from "vitest";
import { ChannelFailure, type SendOutcome } from "#lib/messenger/channels/channel.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { requeueUnsent } from "#lib/messenger/outbox/outcome.ts";
import { applyReceipt, findState } from "#lib/messenger/outbox/state.ts";
import { noPace } from "#lib/messenger/send/pacing.ts";
import { failNextWrite } from "../next-write.ts";
import { account, beginTerm, takeAny } from "../outbox/outbox-rows.ts";
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
    const code = await put("6281200000003", "otp");
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
    await requeueUnsent(sql, taken as Outgoing, 3_600);
    const stop = await lead();
    await eventually(other, "SENT");
    await untilIdle();
    expect(await stateOf(second)).toBe("PENDING");
    await stop();
    await sql`update messaging.message set not_before = now()`;
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
      const waiting = () => sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(waiting).not.toHaveLength(0);
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

test("a message that gets no answer five times is uncertain, and not sent again", async () => {
  platform.verdicts = () => Promise.reject(new Error("silence"));
  const id = await put();
  await lead();
  await eventually(id, "UNCERTAIN");
  expect(sent.length).toBe(5);
  expect((await findState(sql, id))?.reason).toBe("the platform gave no answer");
  await applyReceipt(sql, id, "DELIVERED");
  expect(await findState(sql, id)).not.toHaveProperty("reason");
});

test("a rejected message has failed, with the platform's code", async () => {
  platform.verdicts = async () => ({ outcome: "refused", code: "400" });
  const id = await put();
  await lead();
  await eventually(id, "FAILED");
  expect((await findState(sql, id))?.reason).toContain("400");
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

test("code 463 holds back only new contacts, and loses no message", async () => {
  await sql`insert into messaging.contact (account, phone) values (${account}, '6281200000009')`;
  platform.verdicts = async ({ phone }) =>
    phone.endsWith("9") ? acked : { outcome: "refused", code: "463" };
  const stranger = await put("6281200000001");
  const other = await put("6281200000002");
  const friend = await put("6281200000009");
  await lead();
  await eventually(friend, "SENT");
  expect([await stateOf(stranger), await stateOf(other), sent.length]).toEqual(["PENDING", "PENDING", 2]);
});

test("code 463 for a known contact defers its message by an hour, and does not count as an attempt", async () => {
  const friend = await put("6281200000009");
  await sql`insert into messaging.contact (account, phone) values (${account}, '6281200000009')`;
  platform.verdicts = async () => (sent.length === 1 ? { outcome: "refused", code: "463" } : acked);
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
  platform.verdicts = async () => ({ outcome: "refused", code: "429" });
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
    phone.endsWith("1") ? { outcome: "refused", code: "503" } : acked;
  const [first, second, other] = [await put(), await put(), await put("6281200000002")];
  await lead({ ...noPace, retryMs: [3_600_000, 3_600_000] });
  await eventually(other, "SENT");
  await untilIdle();
  expect([await stateOf(first), await stateOf(second), sent]).toEqual(["PENDING", "PENDING", [first, other]]);
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

test("a message that cannot be composed is retried, fails after five attempts, and blocks no other number", async () => {
  platform.compose = async ({ phone }) => {
    if (phone.endsWith("1")) throw new Error("the image is invalid");
  };
  const [broken, hopeless] = [await put("6281200000001"), await put("6281200000011")];
  const other = await put("6281200000002");
  await sql`update messaging.message set attempts = 3 where id = ${broken}`; // the next delay is long
  await sql`update messaging.message set attempts = 4 where id = ${hopeless}`;
  await lead();
  await eventually(other, "SENT");
  await untilIdle();
  expect([await stateOf(broken), composed]).toEqual(["PENDING", [broken, hopeless, other]]);
  expect(await findState(sql, hopeless)).toMatchObject({
    status: "FAILED",
    reason: "the message could not be prepared",
  });
  const [row] = await sql`
    select attempts, not_before > now() as waits from messaging.message where id = ${broken}`;
  expect(row).toEqual({ attempts: 4, waits: true });
});

test("a send that fails before the frame leaves waits longer each time, for ten minutes at most", async () => {
  platform.verdicts = async () => {
    throw new ChannelFailure("failed", false);
  };
  const [late, later] = [await put("6281200000001"), await put("6281200000002")];
  await sql`update messaging.message set attempts = 3, unsent = 3 where id = ${late}`;
  await sql`update messaging.message set attempts = 99, unsent = 99 where id = ${later}`;
  await lead();
  const waits = () => sql`
    select attempts - unsent as sends, attempts, round(extract(epoch from not_before - changed_at))::int as seconds
    from messaging.message where state = 'PENDING' and not_before > now() order by seq`;
  await expect.poll(waits).toEqual([
    { sends: 0, attempts: 4, seconds: 40 },
    { sends: 0, attempts: 100, seconds: 600 },
  ]);
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
    await applyReceipt(sql, id, "DELIVERED");
    const next = await put();
    await lead();
    await eventually(next, "SENT");
    expect([await stateOf(id), sent]).toEqual(["DELIVERED", [next]]);
  });

  test("that overtake the platform's answer are not overwritten by it", async () => {
    platform.verdicts = async ({ id }) => {
      await applyReceipt(sql, id, "READ");
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

describe("the loss of the database", () => {
  const attemptsOf = async (id: string) =>
    (await sql`select attempts from messaging.message where id = ${id}`)[0]?.attempts;

  test("while a message is prepared does not count as an attempt, not even as the last one", async () => {
    // the server closes the connection while the platform's answer is being stored
    await failNextWrite(database.admin, { table: "number_check" }, "57P01");
    const id = await put();
    await sql`update messaging.message set attempts = 4`;
    await lead();
    await eventually(id, "SENT");
    expect([await attemptsOf(id), composed]).toEqual([5, [id]]);
  });

  test("while the keys of a send are stored does not count as an attempt, as nothing has left", async () => {
    const lost = Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
    platform.verdicts = async () => {
      if (sent.length < 3) throw new ChannelFailure("failed", false, lost);
      return acked;
    };
    const id = await put();
    await lead();
    await eventually(id, "SENT");
    expect([sent.length, await attemptsOf(id)]).toEqual([3, 1]);
  });
});
