import { describe, expect, test, vi } from "vitest";
import { ChannelFailure } from "#lib/channels/channel.ts";
import { inTime } from "#lib/db/outage.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { applyReceipt } from "#lib/messenger/outbox/receipt.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { failNextWrite } from "../../fleet/next-write.ts";
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
} from "./sender-steps.ts";

vi.stubEnv("LOG_LEVEL", "error");

useSender();

test("a message that gets no answer five times is uncertain, and not sent again", async () => {
  platform.verdicts = () => Promise.reject(new Error("silence"));
  const id = await put();
  await lead();
  await eventually(id, "UNCERTAIN");
  expect(sent.length).toBe(5);
  expect((await findState(sql, id))?.reason).toBe("the platform gave no answer");
  await applyReceipt(sql, firstAccount, id, "DELIVERED");
  expect(await findState(sql, id)).not.toHaveProperty("reason");
});

test("a message that gets no answer waits longer each time, and each frame counts for the pace", async () => {
  platform.verdicts = () => Promise.reject(new Error("silence"));
  const [id, other] = [await put(), await put("6281200000002")];
  await sql`update messaging.message set attempts = 2 where id = ${id}`;
  await lead({ ...noPace, perHour: 1, retryMs: [1_000_000, 9_000_000] });
  await untilIdle();
  const [row] = await sql`
    select attempts, round(extract(epoch from not_before - changed_at))::int as seconds
    from messaging.message where id = ${id}`;
  expect([row, sent, await stateOf(other)]).toEqual([{ attempts: 3, seconds: 4_000 }, [id], "PENDING"]);
});

test("a message of which the database does not accept the outcome is uncertain, and is not sent again", async () => {
  await failNextWrite(database.admin, { table: "message", when: "new.state = 'SENT'" }, "22003");
  const [id, next] = [await put(), await put()];
  await lead();
  await eventually(next, "SENT");
  expect(await findState(sql, id)).toMatchObject({
    status: "UNCERTAIN",
    reason: "its outcome could not be stored; see the messenger's log",
  });
  expect(sent).toEqual([id, next]);
});

test("a message of which nothing has left fails, and is not uncertain, when the database does not let it wait", async () => {
  const id = await put();
  await failNextWrite(database.admin, { table: "message", when: "new.state = 'PENDING'" }, "22003");
  platform.compose = () => Promise.reject(new Error("the image is invalid"));
  await lead();
  await eventually(id, "FAILED");
  expect([(await findState(sql, id))?.reason, sent]).toEqual(["the message could not be prepared", []]);
});

test("a message that cannot be composed is retried, fails after five attempts, and blocks no other number", async () => {
  platform.compose = async ({ phone }) => {
    if (phone.endsWith("1")) throw new Error("the image is invalid");
  };
  const [broken, hopeless] = [await put("6281200000001"), await put("6281200000011")];
  const other = await put("6281200000002");
  await sql`update messaging.message set attempts = 3, failed_early = 3 where id = ${broken}`; // the next delay is long
  await sql`update messaging.message set attempts = 4, failed_early = 4 where id = ${hopeless}`;
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

test("a send that fails before the frame leaves waits longer each time, and fails after five", async () => {
  platform.verdicts = async () => {
    throw new ChannelFailure("failed", false);
  };
  const [late, last, unanswered] = [await put(), await put("6281200000002"), await put("6281200000003")];
  await sql`update messaging.message set attempts = 3, failed_early = 3 where id = ${late}`;
  await sql`update messaging.message set attempts = 4, failed_early = 4 where id = ${last}`;
  // sends without an answer are counted separately
  await sql`update messaging.message set attempts = 4 where id = ${unanswered}`;
  await lead();
  const waits = () => sql`
    select attempts - failed_early as sends, attempts, round(extract(epoch from not_before - changed_at))::int as seconds
    from messaging.message where state = 'PENDING' and not_before > now() order by seq`;
  await expect.poll(waits).toEqual([
    { sends: 0, attempts: 4, seconds: 40 },
    { sends: 4, attempts: 5, seconds: 5 },
  ]);
  expect(await findState(sql, last)).toMatchObject({
    status: "FAILED",
    reason: "the message could not be prepared",
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

  /** As the keys' store reports a database that does not respond. */
  const silence = async () => {
    await sql`select 1`;
    return inTime(sql`select pg_sleep(60)`, 100).catch((error: unknown) => error);
  };

  test.each([
    ["lost", async () => Object.assign(new Error("it was lost"), { code: "CONNECTION_CLOSED" })],
    ["silent", silence],
  ])(
    "(%s) while the keys of a send are stored does not count as an attempt, as nothing has left",
    async (_, fail) => {
      const lost = await fail();
      platform.verdicts = async () => {
        if (sent.length < 3) throw new ChannelFailure("failed", false, lost);
        return acked;
      };
      const id = await put();
      await lead();
      await eventually(id, "SENT");
      expect([sent.length, await attemptsOf(id)]).toEqual([3, 1]);
    },
  );
});
