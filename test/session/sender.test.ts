import type postgres from "postgres";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type MessageClass, Submission } from "#lib/messaging/submission.ts";
import { loadHistory } from "#lib/session/history.ts";
import type { Outgoing } from "#lib/session/message.ts";
import { applyReceipt, expire, findState, storeMessages, takeNext, undo } from "#lib/session/outbox.ts";
import { noPace, type Pace, Pacing } from "#lib/session/pacing.ts";
import { type Messenger, runSender } from "#lib/session/sender.ts";
import type { SendOutcome } from "#lib/session/sending.ts";
import { Wakeup } from "#lib/session/wakeup.ts";
import { createSessionDatabase } from "../steps/session-database.ts";

vi.stubEnv("LOG_LEVEL", "error");

const acked: SendOutcome = { outcome: "acked" };

let sql: postgres.Sql;
let wakeup: Wakeup;
let sent: string[];
let composed: string[];
let verdicts: (message: Outgoing) => Promise<SendOutcome>;
let isOpen: boolean;
let registered: (phone: string) => boolean;
let made: number;

beforeEach(async () => {
  sql = (await createSessionDatabase()).connect(4);
  wakeup = new Wakeup();
  [sent, composed, isOpen, made] = [[], [], true, 0];
  verdicts = async () => acked;
  registered = () => true;
});

/** A platform that does what the test says; the real one is met in platform tests. */
const messenger: Messenger = {
  isOpen: () => isOpen,
  isRegistered: async (phone) => registered(phone),
  async compose({ id }) {
    composed.push(id);
    return Buffer.from(`payload of ${id}`);
  },
  async send(payload, message) {
    expect(Buffer.from(payload).toString()).toBe(`payload of ${message.id}`);
    sent.push(message.id);
    return verdicts(message);
  },
};

const put = async (phone = "6281200000001", kind: MessageClass = "transactional") => {
  made += 1;
  const submission = Submission.parse({ kind: "text", phone, text: "x", class: kind });
  const id = `M${made}`;
  await storeMessages(sql, [{ id, submission, mediaId: null, keyDigest: undefined }]);
  return id;
};
const flip = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 255));

const beginTerm = async (): Promise<number> => {
  const [row] = await sql<{ epoch: number }[]>`
    insert into messaging.leadership as held (epoch, holder) values (1, 'test')
    on conflict (only_row) do update set epoch = held.epoch + 1 returning epoch`;
  return row?.epoch ?? 0;
};

const lead = async (pace: Pace = noPace) => {
  const epoch = await beginTerm();
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
    const epoch = await beginTerm();
    const taken = await takeNext(sql, { epoch, resting: [], newContacts: true });
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
    const epoch = await beginTerm();
    await sql.begin(async (before) => {
      const taken = await takeNext(before as unknown as postgres.Sql, {
        epoch,
        resting: [],
        newContacts: true,
      });
      expect(taken?.id).toBe(id);
      const next = beginTerm();
      const waiting = () => sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      next.catch(() => {});
      await expect.poll(waiting, { timeout: 10_000 }).not.toHaveLength(0);
    });
    await lead();
    await eventually(id, "SENT");
    expect(sent).toEqual([id]);
  });

  test("is not that of a leader whose term is over", async () => {
    await put();
    const epoch = await beginTerm();
    await beginTerm();
    expect(await takeNext(sql, { epoch, resting: [], newContacts: true })).toBeUndefined();
  });
});

test("nothing is sent while the platform is away, and everything after", async () => {
  isOpen = false;
  const id = await put();
  await lead();
  expect(await stateOf(id)).toBe("PENDING");
  isOpen = true;
  wakeup.notify();
  await eventually(id, "SENT");
});

test("nothing is sent while the operator has paused it", async () => {
  await sql`update messaging.control set paused = true`;
  const id = await put();
  await lead();
  await sql`update messaging.control set paused = false`;
  expect(sent).toEqual([]);
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
  const stop = await lead();
  await sql`update messaging.leadership set epoch = epoch + 1`;
  const id = await put();
  wakeup.notify();
  await stop();
  expect([await stateOf(id), sent]).toEqual(["PENDING", []]);
});

describe("receipts", () => {
  test.each([
    [["DELIVERED"], "DELIVERED"],
    [["READ"], "READ"],
    [["READ", "DELIVERED"], "READ"],
    [["DELIVERED", "READ", "DELIVERED"], "READ"],
  ] as const)("%j make the message %s, in whatever order they come", async (receipts, state) => {
    const id = await put();
    await lead();
    await eventually(id, "SENT");
    for (const receipt of receipts) await applyReceipt(sql, id, receipt);
    expect(await stateOf(id)).toBe(state);
  });

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

test("a message that was not sent in time expires, and one that may have left is uncertain", async () => {
  const [late, tried, waiting] = [await put(), await put(), await put()];
  await sql`update messaging.message set expires_at = now() where id in (${late}, ${tried})`;
  await sql`update messaging.message set attempts = 1 where id = ${tried}`;
  await expire(sql);
  expect([await stateOf(late), await stateOf(tried), await stateOf(waiting)]).toEqual([
    "EXPIRED",
    "UNCERTAIN",
    "PENDING",
  ]);
});

test("a one-time code overtakes a thousand queued reminders", async () => {
  await sql`
    insert into messaging.message (id, kind, phone, content, priority, expires_at)
    select 'R' || n, 'text', '62812' || (1000000 + n), '{}', 2, now() + interval '1 hour' from generate_series(1, 1000) n`;
  await lead();
  await expect.poll(() => sent.length, { timeout: 5_000 }).toBeGreaterThan(5);
  const before = sent.length;
  const code = await put("6281200000001", "otp");
  wakeup.notify();
  await eventually(code, "SENT");
  expect(sent.indexOf(code)).toBeLessThan(before + 50);
});
