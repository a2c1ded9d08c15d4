import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import {
  citizen,
  createScene,
  failureOf,
  never,
  openPaired,
  ownNumber,
  type Scene,
  sendNew,
  text,
} from "./linked-whatsapp.ts";

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

describe("a message", () => {
  test("arrives under its id with every option", async () => {
    const platform = await openPaired(scene);
    const first = await sendNew(platform, text("Halo *warga*"));
    expect(first.answer).toEqual({ outcome: "acked" });
    const options = { is_forwarded: true, duration_seconds: 86_400 };
    const second = text("Balasan", { ...options, quoted: { id: first.id, payload: first.payload } });
    expect((await sendNew(platform, second)).answer).toEqual({ outcome: "acked" });
    const third = text("Jawaban", { quoted: { id: "3AUNKNOWN" } });
    await sendNew(platform, third);

    const { inbox, failures } = scene.fake.phone(citizen);
    expect(failures).toEqual([]);
    expect(inbox).toMatchObject([
      { id: first.id, type: "extendedTextMessage", text: "Halo *warga*" },
      {
        id: second.id,
        text: "Balasan",
        message: {
          extendedTextMessage: {
            contextInfo: {
              isForwarded: true,
              forwardingScore: 1,
              expiration: 86_400,
              stanzaId: first.id,
              participant: `${ownNumber}@s.whatsapp.net`,
              quotedMessage: { extendedTextMessage: { text: "Halo *warga*" } },
            },
          },
        },
      },
      {
        text: "Jawaban",
        message: {
          extendedTextMessage: {
            contextInfo: { stanzaId: "3AUNKNOWN", participant: `${citizen}@s.whatsapp.net` },
          },
        },
      },
    ]);
  });

  test("delivers a view-once, forwarded, disappearing image and a document that replies to it", async () => {
    const platform = await openPaired(scene);
    const image = randomBytes(70_001);
    const open = async function* () {
      for (let at = 0; at < image.length; at += 9_999) yield image.subarray(at, at + 9_999);
    };
    const picture = text("Peta", {
      kind: "image",
      media: { open, contentType: "image/png" },
      view_once: true,
      is_forwarded: true,
      duration_seconds: 604_800,
    });
    const sent = await sendNew(platform, picture);
    const pdf = Buffer.from("%PDF-1.7 surat");
    const letter = text("Surat", {
      kind: "file",
      media: {
        open: async function* () {
          yield pdf;
        },
        contentType: "application/pdf",
        fileName: "surat.pdf",
      },
      quoted: { id: sent.id, payload: sent.payload },
    });
    await sendNew(platform, letter);

    const [seen, file] = scene.fake.phone(citizen).inbox;
    expect(scene.fake.phone(citizen).failures).toEqual([]);
    expect(seen).toMatchObject({ id: picture.id, type: "imageMessage", text: "Peta" });
    expect(seen?.media?.bytes.equals(image)).toBe(true);
    expect(seen?.message.viewOnceMessage?.message?.imageMessage).toMatchObject({
      viewOnce: true,
      mimetype: "image/png",
      contextInfo: { isForwarded: true, expiration: 604_800 },
    });
    expect(file?.media?.bytes.equals(pdf)).toBe(true);
    expect(file?.message.documentMessage).toMatchObject({
      fileName: "surat.pdf",
      mimetype: "application/pdf",
      caption: "Surat",
      contextInfo: { stanzaId: picture.id },
    });
    expect(file?.message.documentMessage?.contextInfo?.quotedMessage?.imageMessage?.caption).toBe("Peta");
  });

  test("fails before it is sent when no media server accepts its media", async () => {
    const platform = await openPaired(scene);
    scene.fake.behave({ mediaHosts: [500] });
    const media = {
      open: async function* () {
        yield Buffer.from("x");
      },
      contentType: "image/png",
    };
    const failure = await failureOf(platform.compose(text("", { kind: "image", media }), never));
    expect(failure).toMatchObject({ reason: "upload-failed", mayHaveLeft: false });
  });

  test.each([
    ["failed", [413, "unreachable"]],
    ["failed", ["unreachable", 415]],
    ["upload-failed", [503, "unreachable"]],
  ] as const)("is reported as %s when the media hosts answer %s", async (reason, mediaHosts) => {
    const platform = await openPaired(scene);
    scene.fake.behave({ mediaHosts: [...mediaHosts] });
    const media = {
      open: async function* () {
        yield Buffer.from("x");
      },
      contentType: "image/png",
    };
    const failure = await failureOf(platform.compose(text("", { kind: "image", media }), never));
    expect(failure).toMatchObject({ reason, mayHaveLeft: false });
  });

  test("fails with the error of the database when that is lost during the upload, which is no outage of the media servers", async () => {
    const platform = await openPaired(scene);
    let reads = 0;
    const open = async function* () {
      yield Buffer.alloc(100_000);
      if (++reads > 1) throw Object.assign(new Error("the database is lost"), { code: "CONNECTION_CLOSED" });
    };
    const composition = text("", { kind: "file", media: { open, contentType: "text/plain" } });
    expect(await failureOf(platform.compose(composition, never))).toMatchObject({
      reason: "failed",
      code: "CONNECTION_CLOSED",
    });
  });

  test("fails when its media cannot be read or its caller aborts", async () => {
    const platform = await openPaired(scene);
    const broken = async function* () {
      yield Buffer.alloc(100_000);
      throw new Error("the row is gone");
    };
    const composition = text("", { kind: "file", media: { open: broken, contentType: "text/plain" } });
    expect(await failureOf(platform.compose(composition, never))).toMatchObject({ reason: "failed" });
    const stop = new AbortController();
    const endless = async function* () {
      for (;;) {
        yield Buffer.alloc(100_000);
        stop.abort();
      }
    };
    const other = text("", { kind: "file", media: { open: endless, contentType: "text/plain" } });
    expect(await failureOf(platform.compose(other, stop.signal))).toMatchObject({ reason: "aborted" });
  });
});
