import { expect, onTestFinished, test } from "vitest";
import { noPace, type Pace } from "#lib/messenger/send/pace.ts";
import { startPlatform } from "../../../infra/local/whatsapp/platform.ts";
import {
  eventually,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  stateOf,
  submit,
  untilOpen,
} from "../../fleet/running-task.ts";

stageEachTest();

const replacement = "6281100000002";
const friend = "6281200000002";
const warmUp = { ...noPace, warmUp: [1] };

/** Starts a task, links the account of a platform, and unlinks it afterwards. */
const whileLinked = async (
  pace: Pace,
  to: typeof platform,
  work: (task: Awaited<ReturnType<typeof start>>) => Promise<void>,
) => {
  const task = await start(pace, to);
  await untilOpen(task, to);
  await work(task);
  await task.findLeadership()?.whatsApp?.unlink();
  await task.stop();
};

test("a replacement number begins its warm-up on day one with new contacts only, and the old number has its own again", async () => {
  const old = platform.account.number;
  await sql`insert into messaging.contact (number, phone, since) values (${old}, ${phone}, now() - interval '40 days')`;
  const other = await startPlatform({ account: replacement, phones: [phone] });
  onTestFinished(() => other.stop());

  await whileLinked(warmUp, platform, async (task) => {
    for (let n = 0; n < 3; n++) await eventually(task, (await submit(task, {})).id, "READ");
  });
  let waiting = "";
  await whileLinked(warmUp, other, async (task) => {
    await eventually(task, (await submit(task, {})).id, "DELIVERED");
    waiting = (await submit(task, {})).id;
  });
  await whileLinked(warmUp, platform, async (task) => {
    await eventually(task, waiting, "READ");
    expect((await stateOf(task, waiting)).status).toBe("READ");
  });
  expect([other.arrivalsOf(waiting), platform.arrivalsOf(waiting)]).toEqual([0, 1]);
  expect(await sql`select number, phone from messaging.contact order by since`).toEqual([
    { number: old, phone },
    { number: replacement, phone },
  ]);
});

test("a contact of the old number is a new one for its replacement, and waits while the platform locks these", async () => {
  const other = await startPlatform({ account: replacement, phones: [phone, friend] });
  onTestFinished(() => other.stop());
  await whileLinked(noPace, platform, async (task) => {
    await eventually(task, (await submit(task, {})).id, "READ");
  });
  await whileLinked(noPace, other, async (task) => {
    await eventually(task, (await submit(task, { phone: friend })).id, "DELIVERED");
    other.behave({ newChats: { lock: { endsAt: Math.ceil(Date.now() / 1_000) + 3_600 } } });
    other.announceLimits();
    const locked = () => sql`select phone from messaging.number where locked_until > now()`;
    await expect.poll(locked).toEqual([{ phone: replacement }]);
    const { id } = await submit(task, {});
    await eventually(task, (await submit(task, { phone: friend })).id, "DELIVERED");
    expect([other.arrivalsOf(id), (await stateOf(task, id)).status]).toEqual([0, "PENDING"]);
  });
});
