import { expect, test, vi } from "vitest";
import { ChannelFailure } from "#lib/channels/channel.ts";
import { steadyNow } from "#lib/deadline.ts";
import { expire } from "#lib/messenger/outbox/lifecycle.ts";
import { findState } from "#lib/messenger/outbox/state.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import {
  composed,
  database,
  eventually,
  lead,
  pacing,
  platform,
  put,
  putImage,
  sent,
  sql,
  stateOf,
  untilIdle,
  useSender,
} from "./sender-steps.ts";

vi.stubEnv("LOG_LEVEL", "error");

useSender();

const hourMs = 3_600_000;
const slow = { ...noPace, retryMs: [hourMs, hourMs] as const };
const [first, second, third] = ["6281200000001", "6281200000002", "6281200000003"];

const failDirectory = () => {
  platform.registered = vi.fn(async () => {
    throw new ChannelFailure("directory-failed", false);
  });
};
const failMedia = () => {
  platform.compose = async ({ kind }) => {
    if (kind !== "text") throw new ChannelFailure("upload-failed", false);
  };
};
const outages = () => pacing.outages.list(steadyNow()).map(({ service }) => service);
const attemptsOf = async (id: string) =>
  (await sql`select attempts, failed_early, rejections from messaging.message where id = ${id}`)[0];

test("while the platform does not answer for numbers, one message asks and the others wait, but for known numbers", async () => {
  failDirectory();
  platform.known = new Set([third]);
  await sql`insert into messaging.number_check (account, phone, address) values (1, ${third}, ${third}), (1, ${second}, ${second})`;
  const [asking, cold, known] = [await put(first), await put(second), await put(third)];
  const unknown = await put("6281200000004", "bulk");
  await lead(slow);
  await eventually(known, "SENT");
  await untilIdle();
  expect(platform.registered).toHaveBeenCalledTimes(1);
  expect([sent, await stateOf(asking), await stateOf(cold), await stateOf(unknown)]).toEqual([
    [known],
    "PENDING",
    "PENDING",
    "PENDING",
  ]);
  expect(await attemptsOf(asking)).toEqual({ attempts: 0, failed_early: 0, rejections: { directory: 1 } });
});

test("while the platform does not answer for numbers, the messages that wait are not written to", async () => {
  failDirectory();
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, expires_at)
    select 'W' || i, 'api:test', 'text', 62812000000 + i, '{}', now() + interval '1 day'
    from generate_series(1, 200) i`;
  await lead(slow);
  await expect.poll(() => platform.registered).toHaveBeenCalled();
  await untilIdle();
  const written = await sql`select id from messaging.message where changed_at > accepted_at`;
  expect(written.length).toBe(1);
});

test("an outage of the platform's directory does not end before a message that needed it was sent", async () => {
  const upload = Promise.withResolvers<void>();
  platform.compose = () => upload.promise;
  platform.known = new Set([second]);
  await sql`insert into messaging.number_check (account, phone, address) values (1, ${first}, ${first}), (1, ${second}, ${second})`;
  const image = await putImage(first);
  await lead();
  await eventually(image, "SENDING");
  pacing.outages.record("directory", steadyNow());
  await sql`update messaging.control set paused = true`;
  upload.resolve();
  await eventually(image, "PENDING");
  await untilIdle();
  expect([composed, sent, outages()]).toEqual([[image], [], ["directory"]]);
  await database.admin`delete from messaging.message`;
  const known = await put(second);
  await sql`update messaging.control set paused = false`;
  await eventually(known, "SENT");
  await untilIdle();
  expect(outages()).toEqual(["directory"]);
  await eventually(await put(first), "SENT");
  await untilIdle();
  expect(outages()).toEqual([]);
});

test("an outage of the platform's directory ends with its answer that a number is not registered, not with a stored one", async () => {
  platform.registered = async () => false;
  await lead();
  pacing.outages.record("directory", steadyNow());
  await eventually(await put(first), "FAILED");
  expect(outages()).toEqual([]);
  pacing.outages.record("directory", steadyNow());
  await eventually(await put(first), "FAILED");
  expect(outages()).toEqual(["directory"]);
});

test("an outage of the platform's directory ends with its answer that a number has no devices", async () => {
  platform.verdicts = async () => {
    throw new ChannelFailure("no-device", false);
  };
  await lead();
  pacing.outages.record("directory", steadyNow());
  const id = await put(first);
  await expect.poll(() => attemptsOf(id)).toMatchObject({ failed_early: 1 });
  expect(outages()).toEqual([]);
});

test("a message that outlives an outage of the platform's directory is sent, however often it failed", async () => {
  let failures = 8;
  platform.registered = async () => {
    if (failures-- > 0) throw new ChannelFailure("directory-failed", false);
    return true;
  };
  const [id, other] = [await put(first), await put(second)];
  await lead();
  await eventually(id, "SENT");
  await eventually(other, "SENT");
  expect((await attemptsOf(id))?.attempts).toBe(1);
});

test("a file that no media server accepts does not hold up others", async () => {
  const hopeless = await putImage(first);
  platform.compose = async ({ id }) => {
    if (id === hopeless) throw new ChannelFailure("upload-failed", false);
  };
  const next = await putImage(second);
  await lead({ ...noPace, retryMs: [2_000, 2_000] });
  await eventually(next, "SENT");
  expect(await stateOf(hopeless)).toBe("PENDING");
});

test("an image waits while no media server answers, and texts do not", async () => {
  failMedia();
  const [image, next, text] = [await putImage(first), await putImage(second), await put(third)];
  await lead(slow);
  await eventually(text, "SENT");
  await untilIdle();
  expect([composed, sent, await stateOf(image), await stateOf(next)]).toEqual([
    [image, text],
    [text],
    "PENDING",
    "PENDING",
  ]);
  expect(await attemptsOf(image)).toEqual({ attempts: 0, failed_early: 0, rejections: { media: 1 } });
});

test("a message that expires during an outage says what it waited for", async () => {
  failMedia();
  const image = await putImage(first);
  const stop = await lead(slow);
  await expect.poll(() => attemptsOf(image)).toMatchObject({ rejections: { media: 1 } });
  await stop();
  await sql`update messaging.message set expires_at = now()`;
  await expire(sql);
  expect(await findState(sql, image)).toMatchObject({
    status: "EXPIRED",
    reason: "not sent before it expired; no media server of the platform accepted its media",
  });
});

test("what has failed two thousand times is tried again, also at a pace without waits", async () => {
  failMedia();
  const id = await putImage(first);
  await sql`update messaging.message set rejections = '{"media": 2000}'`;
  await lead();
  await expect
    .poll(() => sql`select from messaging.message where (rejections ->> 'media')::int > 2000`)
    .toHaveLength(1);
  platform.compose = async () => {};
  await eventually(id, "SENT");
});
