import type postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { MessageClass } from "#lib/messaging/submission.ts";
import { loadHistory } from "#lib/session/history.ts";
import type { Outgoing } from "#lib/session/message.ts";
import { applyReceipt, findState, undo } from "#lib/session/outbox.ts";
import { noPace, type Pace, Pacing } from "#lib/session/pacing.ts";
import { type Messenger, runSender } from "#lib/session/sender.ts";
import type { SendOutcome } from "#lib/session/sending.ts";
import { Wakeup } from "#lib/session/wakeup.ts";
import { failNextWrite } from "../steps/next-write.ts";
import { beginTerm, putMessage, takeAny } from "../steps/outbox.ts";
import { createSessionDatabase } from "../steps/session-database.ts";

vi.stubEnv("LOG_LEVEL", "error");

const acked: SendOutcome = { outcome: "acked" };

let database: Awaited<ReturnType<typeof createSessionDatabase>>;
let sql: postgres.Sql;
let wakeup: Wakeup;
let sent: string[];
let composed: string[];
let compose: (message: Outgoing) => Promise<void>;
let verdicts: (message: Outgoing) => Promise<SendOutcome>;
let isOpen: boolean;
let registered: (phone: string) => boolean;
let made: number;

beforeEach(async () => {
  database = await createSessionDatabase();
  sql = database.connect(4);
  wakeup = new Wakeup();
  [sent, composed, isOpen, made] = [[], [], true, 0];
  compose = async () => {};
  verdicts = async () => acked;
  registered = () => true;
});

/** A platform that does what the test says; the real one is met in platform tests. */
const messenger: Messenger = {
  isOpen: () => isOpen,
  isRegistered: async (phone) => registered(phone),
  async compose(message) {
    composed.push(message.id);
    await compose(message);
    return Buffer.from(`payload of ${message.id}`);
  },
  async send(payload, message) {
    expect(Buffer.from(payload).toString()).toBe(`payload of ${message.id}`);
    sent.push(message.id);
    return verdicts(message);
  },
};

const put = async (phone = "6281200000001", kind: MessageClass = "transactional") => {
  made += 1;
  const id = `M${made}`;
  await putMessage(sql, id, { phone, class: kind });
  return id;
};
const flip = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 255));

const lead = async (pace: Pace = noPace) => {
  const epoch = await beginTerm(sql);
  const end = new AbortController();
  const pacing = new Pacing(pace, await loadHistory(sql));
  const done = runSender({
    ...{ sql, epoch, messenger, pacing, wakeup, signal: end.signal },
    seal: (_, payload) => flip(payload),
    open: (_, sealed) => flip(sealed),
  });
  const stop = async () => {
    end.abort();
    await done;
  };
  onTestFinished(stop);
  return stop;
};

const stateOf = async (id: string) => (await findState(sql, id))?.status;
const eventually = (id: string, status: string) =>
  expect.poll(() => stateOf(id), { timeout: 5_000 }).toBe(status);

/** Resolves once the sender has looked at everything that there is now, and has found nothing to do. */
const untilIdle = async () => {
  const waits = vi.spyOn(wakeup, "wait").mock.calls;
  const before = waits.length;
  const look = () => {
    wakeup.notify();
    return waits.length - before;
  };
  // the first may be the end of a look that began earlier
  await expect.poll(look, { timeout: 5_000 }).toBeGreaterThanOrEqual(2);
};

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

  test("of one number's messages is kept when a send gets no answer", async () => {
    let failures = 2;
    verdicts = async () => {
      if (failures-- > 0) throw new Error("cut");
      return acked;
    };
    const ids = [await put(), await put(), await put()];
    await lead();
    await eventually(ids[2] ?? "", "SENT");
    expect(sent).toEqual([ids[0], ids[0], ...ids]);
    expect(composed).toEqual(ids);
  });

  test("of one number's messages is kept by a leader that finds one put back for a while", async () => {
    const [first, second] = [await put(), await put()];
    const other = await put("6281200000002");
    const epoch = await beginTerm(sql);
    const taken = await takeAny(sql, epoch);
    expect(taken?.id).toBe(first);
    await undo(sql, taken as Outgoing, 3_600);
    await lead();
    await eventually(other, "SENT");
    expect(await stateOf(second)).toBe("PENDING");
    await sql`update messaging.message set not_before = now()`;
    await eventually(second, "SENT");
    expect(sent).toEqual([other, first, second]);
  });

  test("is handed over whole: a term begins after the last message of the one before was taken", async () => {
    const id = await put();
    const epoch = await beginTerm(sql);
    let next: Promise<number> | undefined;
    await sql.begin(async (before) => {
      expect(await takeAny(before, epoch)).toMatchObject({ id });
      next = beginTerm(sql);
      next.catch(() => {});
      const waiting = () => sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(waiting, { timeout: 10_000 }).not.toHaveLength(0);
    });
    expect(await next).toBe(epoch + 1);
    await lead();
    await eventually(id, "SENT");
    expect(sent).toEqual([id]);
  });
});

test("nothing is sent while the platform is away, and everything after", async () => {
  isOpen = false;
  const id = await put();
  await lead();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
  isOpen = true;
  wakeup.notify();
  await eventually(id, "SENT");
});

test("nothing is sent while the operator has paused it", async () => {
  await sql`update messaging.control set paused = true`;
  const id = await put();
  await lead();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
  await sql`update messaging.control set paused = false`;
  await eventually(id, "SENT");
});

test("a message that gets no answer five times is uncertain, and not sent again", async () => {
  verdicts = () => Promise.reject(new Error("silence"));
  const id = await put();
  await lead();
  await eventually(id, "UNCERTAIN");
  expect(sent.length).toBe(5);
  expect((await findState(sql, id))?.reason).toBe("the platform gave no answer");
  await applyReceipt(sql, id, "DELIVERED");
  expect(await findState(sql, id)).not.toHaveProperty("reason");
});

test("a refused message has failed, with the platform's code", async () => {
  verdicts = async () => ({ outcome: "refused", code: "479" });
  const id = await put();
  await lead();
  await eventually(id, "FAILED");
  expect((await findState(sql, id))?.reason).toContain("479");
});

test("a number that the platform does not know has failed, and is not asked for again", async () => {
  let asked = 0;
  registered = () => {
    asked += 1;
    return false;
  };
  const [first, second] = [await put(), await put()];
  await lead();
  await Promise.all([eventually(first, "FAILED"), eventually(second, "FAILED")]);
  expect([asked, sent]).toEqual([1, []]);
});

test("code 463 holds back new contacts alone, and loses no message", async () => {
  await sql`insert into messaging.contact (phone) values ('6281200000009')`;
  verdicts = async ({ phone }) => (phone.endsWith("9") ? acked : { outcome: "refused", code: "463" });
  const stranger = await put("6281200000001");
  const other = await put("6281200000002");
  const friend = await put("6281200000009");
  await lead();
  await eventually(friend, "SENT");
  expect([await stateOf(stranger), await stateOf(other), sent.length]).toEqual(["PENDING", "PENDING", 2]);
});

test("code 463 for a known contact holds its message back for an hour, and counts as no send", async () => {
  const friend = await put("6281200000009");
  await sql`insert into messaging.contact (phone) values ('6281200000009')`;
  verdicts = async () => (sent.length === 1 ? { outcome: "refused", code: "463" } : acked);
  await lead();
  await untilIdle();
  expect([await stateOf(friend), sent]).toEqual(["PENDING", [friend]]);
  const [row] = await sql`
    select attempts, not_before > now() + interval '59 minutes' as waits from messaging.message`;
  expect(row).toEqual({ attempts: 0, waits: true });
  await sql`update messaging.message set not_before = not_before - interval '1 hour'`;
  await eventually(friend, "SENT");
});

test("a number is a new contact once; when their budget is used up, known ones go on", async () => {
  const first = await put("6281200000001");
  const stranger = await put("6281200000002");
  const again = await put("6281200000001");
  await lead({ ...noPace, newContactsPerDay: 1 });
  await eventually(again, "SENT");
  await untilIdle();
  expect([await stateOf(stranger), sent]).toEqual(["PENDING", [first, again]]);
});

test("a message that the platform has is not sent again when the database fails just then", async () => {
  const [first, second] = [await put(), await put()];
  await failNextWrite(database.admin, { table: "message", when: "new.state = 'SENT'" });
  await lead();
  await eventually(second, "SENT");
  expect([await stateOf(first), sent]).toEqual(["SENT", [first, second]]);
});

test("a message that cannot be made waits, has failed after the fifth time, and holds no other number up", async () => {
  compose = async ({ phone }) => {
    if (phone.endsWith("1")) throw new Error("the picture is broken");
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
    ...{ status: "FAILED", reason: "the message could not be prepared" },
  });
  const [row] = await sql`
    select attempts, not_before > now() as waits from messaging.message where id = ${broken}`;
  expect(row).toEqual({ attempts: 4, waits: true });
});

test("what an earlier leader left under way is sent again with the same payload", async () => {
  const id = await put();
  const answer = Promise.withResolvers<SendOutcome>();
  verdicts = () => answer.promise;
  const stop = await lead();
  await expect.poll(() => sent.length).toBe(1);
  verdicts = async () => acked;
  await lead();
  await eventually(id, "SENT");
  answer.resolve(acked);
  await stop();
  expect([sent, composed]).toEqual([[id, id], [id]]);
});

test("a leader whose epoch is over takes nothing more", async () => {
  await lead();
  await beginTerm(sql);
  const id = await put();
  await untilIdle();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
});

describe("receipts", () => {
  test("that come for a message that was put back end it: it is not sent again", async () => {
    const id = await put();
    await applyReceipt(sql, id, "DELIVERED");
    const next = await put();
    await lead();
    await eventually(next, "SENT");
    expect([await stateOf(id), sent]).toEqual(["DELIVERED", [next]]);
  });

  test("that overtake the platform's answer are not undone by it", async () => {
    verdicts = async ({ id }) => {
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
