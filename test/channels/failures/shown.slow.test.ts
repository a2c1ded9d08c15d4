import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import type { Accepted } from "#lib/messaging/submission.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  database,
  phone,
  platform,
  stageEachTest,
  startOpen,
  stateOf,
  submit,
  upload,
} from "../../fleet/running-task.ts";
import { pngChunk, pngEnd, pngHeader, pngSignature } from "../../steps/png.ts";
import { photo, picture, pixelsOf } from "../pictures.ts";
import { expectShown, type Shown } from "./expect-shown.ts";

stageEachTest();

const unreadable = /could not decrypt the message.*"Waiting for this message"/;

const arrives = (frames: number): Shown => ({ status: "DELIVERED", frames, metrics: { sent: 1 } });

/** Failure modes of a recipient's phone that cannot decrypt, and what becomes of a message to it. */
const sessions: readonly [string, FailureModes, Shown][] = [
  ["has lost the session", { loseSession: 1 }, { ...arrives(2), metrics: { sent: 2 } }],
  ["has used up the one-time key of the session", { usedPreKeys: 1 }, arrives(2)],
  ["has used up that of the next session too", { usedPreKeys: 2 }, arrives(3)],
  ["has no one-time key left", { oneTimeKeys: false }, arrives(1)],
  ["requests the message again twice", { askAgain: 2 }, arrives(3)],
  [
    "can never decrypt it",
    { askAgain: 9 },
    { status: "SENT", reason: unreadable, frames: 3, metrics: { sent: 1, undecryptable: 1 } },
  ],
];

test.each([
  ["has expired", "expires_at = now()"],
  ["was read", "state = 'READ'"],
])("a code that %s is not sent to a phone that requests it again", async (_, change) => {
  const task = await startOpen();
  platform.behave({ receipts: [] });
  const { id } = await submit(task, { class: "one-time-code" });
  await expect.poll(async () => (await stateOf(task, id)).status).toBe("SENT");
  await database.admin.unsafe(`update messaging.message set ${change}`);
  await platform.askAgain(id);
  await platform.until(() => platform.unacknowledged === 0);
  expect(platform.arrivalsOf(id)).toBe(1);
});

test.each(sessions)("when the phone %s, the message's state is what the phone shows", async (...row) => {
  const [, failureMode, shown] = row;
  const task = await startOpen();
  if (failureMode.loseSession) {
    platform.behave({ receipts: ["delivered"] });
    const { id } = await submit(task, { text: "starts the session" });
    await expect.poll(async () => (await stateOf(task, id)).status).toBe("DELIVERED");
  }
  platform.behave({ receipts: ["delivered"], ...failureMode });
  const { id } = await submit(task, {});
  await expectShown(task, id, shown);
  expect(platform.phone(phone).find(id) !== undefined).toBe(shown.status === "DELIVERED");
});

/** Failure modes of the media hosts, and how each upload was answered: host and status. */
const hosts: readonly [string, FailureModes, readonly (readonly [host: number, status: number])[]][] = [
  ["the first fails", { mediaHosts: [503, 200] }, [[0, 503], [1, 200]]],
  ["two fail, one of them without a connection", { mediaHosts: ["unreachable", 507, 200] }, [[1, 507], [2, 200]]],
  ["the auth has expired", { mediaHosts: [200, 200], expireMediaAuth: 1 }, [[0, 401], [0, 200]]],
  [
    "the auth expires at the second host",
    { mediaHosts: ["unreachable", 200], expireMediaAuth: 1 },
    [[1, 401], [1, 200]],
  ],
  ["the list is unavailable for once", { failMediaConn: 1 }, [[0, 200]]],
]; // biome-ignore format: rows

test.each(hosts)("when of the media hosts %s, the file arrives", async (_, failureMode, answers) => {
  const task = await startOpen();
  platform.behave({ receipts: ["delivered"], ...failureMode });
  const bytes = randomBytes(3 * 1024 * 1024);
  const { id } = (await upload(task, { kind: "file", file_name: "peta.bin" }, bytes)).json as Accepted;
  await expectShown(task, id, arrives(1));
  expect(platform.uploads.map(({ host, status }) => [host, status])).toEqual(answers);
  expect(platform.phone(phone).find(id)?.media?.bytes.equals(bytes)).toBe(true);
});

test.each([
  [0, 0, null],
  [1, 86_400, 86_400],
  [86_400, 86_400, 86_400],
  [86_401, 604_800, 604_800],
  [604_801, 7_776_000, 7_776_000],
  [31_536_000, 7_776_000, 7_776_000],
])("a message that disappears after %i s gets the next duration that phones know, %i s", async (...row) => {
  const [duration_seconds, duration, expiration] = row;
  const task = await startOpen();
  const { id } = await submit(task, { duration_seconds });
  await expect.poll(async () => (await stateOf(task, id)).status).toBe("READ");
  const context = platform.phone(phone).find(id)?.message.extendedTextMessage?.contextInfo;
  expect([(await stateOf(task, id)).duration, context?.expiration || null]).toEqual([duration, expiration]);
});

test("a message without a duration has none in its state", async () => {
  const task = await startOpen();
  const { id } = await submit(task, {});
  expect(await stateOf(task, id)).not.toHaveProperty("duration");
});

test("a file without a declared type arrives with that of its content", async () => {
  const submission = { kind: "file", file_name: "surat.pdf", content_type: "application/octet-stream" };
  expect((await receive(submission, Buffer.from("%PDF-1.7\n"))).media?.mimetype).toBe("application/pdf");
});

/** Sends media. @returns what the phone received. */
const receive = async (submission: Record<string, unknown>, bytes: Buffer) => {
  const task = await startOpen();
  const { id } = (await upload(task, submission, bytes)).json as Accepted;
  await expect.poll(async () => (await stateOf(task, id)).status).toBe("READ");
  return platform.phone(phone).find(id) ?? expect.fail();
};

describe("an image arrives", () => {
  test("upright in width, height and thumbnail, although it is stored on its side", async () => {
    const stored = picture(600, 400).withMetadata({ orientation: 6 }).jpeg({ quality: 98 });
    const bytes = await stored.toBuffer();
    const { message, media } = await receive({ kind: "image" }, bytes);
    expect(media?.bytes.equals(bytes)).toBe(true);
    expect(message.imageMessage).toMatchObject({ width: 400, height: 600 });
    const thumbnail = Buffer.from(message.imageMessage?.jpegThumbnail ?? []);
    expect(await sharp(thumbnail).metadata()).toMatchObject({ format: "jpeg", width: 67, height: 100 });
    // the upper quarter is green, which the phone turns to the right
    const [red = 0, green = 0] = (await pixelsOf(thumbnail)).at(0.95, 0.5);
    expect(green - red).toBeGreaterThan(100);
  });

  test("compressed, with the size that it has then", async () => {
    const { message } = await receive({ kind: "image", compress: true }, await photo(1_800, 1_350));
    expect(message.imageMessage).toMatchObject({ mimetype: "image/jpeg", width: 1_600, height: 1_200 });
    expect(message.imageMessage?.jpegThumbnail?.length).toBeGreaterThan(500);
  });

  test("without a thumbnail when it cannot be decoded within the limits", async () => {
    const interlaced = pngHeader(5_000, 5_000, { depth: 16, interlace: 1 });
    const bomb = Buffer.concat([pngSignature, interlaced, pngChunk("IDAT", Buffer.alloc(99)), pngEnd]);
    const { message } = await receive({ kind: "image" }, bomb);
    expect(message.imageMessage).toMatchObject({ width: 5_000, height: 5_000 });
    expect(message.imageMessage?.jpegThumbnail?.length ?? 0).toBe(0);
  });

  test("without a thumbnail when it may be viewed only once", async () => {
    const { message } = await receive({ kind: "image", view_once: true }, await photo());
    const image = message.viewOnceMessage?.message?.imageMessage;
    expect(image).toMatchObject({ width: 600, height: 400 });
    expect(image?.jpegThumbnail?.length ?? 0).toBe(0);
  });
});
