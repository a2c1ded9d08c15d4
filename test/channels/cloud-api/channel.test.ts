import { once } from "node:events";
import { createServer } from "node:net";
import sharp from "sharp";
import { expect, test } from "vitest";
import { findRejection } from "#lib/channels/codes.ts";
import { AccountRejected } from "#lib/channels/request-link.ts";
import { listen, startDeafServer } from "../../steps/http-server.ts";
import { photo, pixelsOf } from "../pictures.ts";
import { code, openChannel, outgoing, phone, settingsOf } from "./channel-steps.ts";
import type { Behaviour } from "./platform.ts";

const text = "Antrean Anda: A-12";
const notLeft = { name: "ChannelFailure", mayHaveLeft: false };
const mayHaveLeft = { name: "ChannelFailure", mayHaveLeft: true };

test("a text arrives once, as the parameter of the template, with our id and the platform's", async () => {
  const { platform, deliver } = await openChannel();
  const outcome = await deliver(outgoing({ text }));
  const [arrived, ...others] = platform.at(phone);
  expect(outcome).toEqual({ outcome: "acked", reference: arrived?.wamid });
  expect(arrived).toMatchObject({ id: "3EB0INVENTED", text });
  expect(others).toEqual([]);
});

test.each([
  ["line breaks", "Halo Budi,\r\n\r\nAntrean Anda A-12\nLoket 3", "Halo Budi, Antrean Anda A-12 · Loket 3"],
  ["tabs", "Loket\t\t3", "Loket 3"],
  ["spaces", `Loket${" ".repeat(9)}3`, "Loket    3"],
  ["other separators", "Loket\u20283\v4\f5\u0085", "Loket · 3 · 4 · 5"],
  ["nothing forbidden", "Loket  3 – *tebal*", "Loket  3 – *tebal*"],
])("a text with %s is changed only as the platform demands", async (_what, given, shown) => {
  const { platform, deliver } = await openChannel();
  await deliver(outgoing({ text: given }));
  expect(platform.at(phone).map((arrived) => arrived.text)).toEqual([shown]);
});

test.each([
  ["Kode Anda: *482913*. Berlaku 5 menit.", "482913"],
  ["4821 adalah kode Anda, jangan berikan 4821 kepada siapa pun.", "4821"],
  ["Kode 12345678, hubungi +6281234567890 pada 2026-11-23 bila bukan Anda.", "12345678"],
])("of a one-time code only the code is sent, in body and button: %s", async (given, shown) => {
  const { platform, deliver } = await openChannel();
  expect(await deliver(code(given))).toMatchObject({ outcome: "acked" });
  const components = platform.at(phone)[0]?.posted.template.components;
  expect(components?.flatMap<unknown>(({ parameters }) => parameters)).toEqual([
    { type: "text", text: shown },
    { type: "text", text: shown },
  ]);
});

test.each([
  "Kode Anda 482913 atau 771204",
  "Kode Anda 123 456",
  "Kode Anda A1234",
  "Buka https://city.example/83726184",
  "Bayar Rp50.000",
  "Kode Anda 123456789",
  "Tanpa kode",
])("a one-time code is not guessed: %s", async (given) => {
  const { platform, channel } = await openChannel();
  await expect(channel.compose(code(given), phone)).rejects.toMatchObject({ name: "Unsendable" });
  expect(platform.requests).toEqual([]);
});

test("an image and a PDF arrive as the template's header", async () => {
  const { platform, deliver, store } = await openChannel();
  const image = await store("image/jpeg", await photo());
  const file = await store("application/pdf", Buffer.alloc(3 * 1024 * 1024, "%PDF-1.7 "), "surat.pdf");
  await deliver(outgoing({ text }, { kind: "image", mediaId: image.id }));
  await deliver(outgoing({}, { kind: "file", mediaId: file.id }));
  expect([...platform.media.values()]).toEqual(["image/jpeg", "application/pdf"]);
  const headers = platform.at(phone).map(({ posted }) => posted.template.components[0]?.parameters[0]);
  expect(headers).toEqual([
    { type: "image", image: { id: "1000000" } },
    { type: "document", document: { id: "1000001", filename: "surat.pdf" } },
  ]);
  expect(platform.at(phone).map((arrived) => arrived.text)).toEqual([text, "surat.pdf"]);
});

test("an image over 5 MiB is compressed, and one that cannot be is unsendable", async () => {
  const { platform, channel, deliver, store } = await openChannel();
  const large = await store("image/jpeg", Buffer.concat([await photo(), Buffer.alloc(5 * 1024 * 1024)]));
  const broken = await store("image/png", Buffer.alloc(5 * 1024 * 1024 + 1));
  expect(await deliver(outgoing({ text }, { kind: "image", mediaId: large.id }))).toMatchObject({
    outcome: "acked",
  });
  const second = outgoing({ text }, { kind: "image", mediaId: broken.id });
  await expect(channel.compose(second, phone)).rejects.toMatchObject({ name: "Unsendable" });
  expect(platform.media.size).toBe(1);
});

test("images that are not RGB with 8 bits are converted, with their colours, and those that are stay as they are", async () => {
  const { platform, channel, deliver, store } = await openChannel();
  const colour = { r: 200, g: 80, b: 40 };
  const plain = () => sharp({ create: { width: 60, height: 40, channels: 3, background: colour } });
  const grey = () => plain().greyscale();
  const cmyk = await plain().toColourspace("cmyk").jpeg({ quality: 100 }).toBuffer();
  // without the marker of Adobe, whose programs store the inverted colours
  const marker = cmyk.indexOf(Buffer.of(0xff, 0xee));
  const inverted = Buffer.concat([cmyk.subarray(0, marker), cmyk.subarray(marker + 16)]);
  const converted: readonly [string, Buffer, (readonly number[])?][] = [
    ["CMYK", cmyk, [200, 80, 40]],
    ["CMYK that is not inverted", inverted, []],
    ["16 bits", await plain().toColourspace("rgb16").png().toBuffer(), [200, 80, 40]],
    ["16 bits in Display P3", await plain().toColourspace("rgb16").withIccProfile("p3").png().toBuffer()],
    [
      "16 bits with alpha",
      await plain().ensureAlpha(0).toColourspace("rgb16").png().toBuffer(),
      [255, 255, 255],
    ],
    ["16 bits of grey", await grey().toColourspace("grey16").png().toBuffer(), [113, 113, 113]],
    ["a grey JPG", await grey().jpeg().toBuffer(), [113, 113, 113]],
    ["a grey PNG", await grey().png().toBuffer(), [113, 113, 113]],
    ["a palette", await plain().png({ palette: true }).toBuffer(), [200, 80, 40]],
  ];
  const taken: readonly Buffer[] = [
    await plain().jpeg().toBuffer(),
    await plain()
      .withMetadata({ orientation: 6 })
      .withIccProfile("p3")
      .jpeg({ progressive: true })
      .toBuffer(),
    await plain().ensureAlpha(0.5).png().toBuffer(),
  ];
  for (const bytes of [...converted.map(([, image]) => image), ...taken]) {
    const { id } = await store(bytes[0] === 0xff ? "image/jpeg" : "image/png", bytes);
    await deliver(outgoing({ text }, { kind: "image", mediaId: id }));
  }
  expect(platform.files).toHaveLength(converted.length + taken.length);
  for (const [index, [kind, , shown = [200, 80, 40]]] of converted.entries()) {
    const { at } = await pixelsOf(Buffer.from((await platform.files[index]?.arrayBuffer()) ?? expect.fail()));
    // CMYK cannot represent this orange
    for (const [part, value] of shown.entries())
      expect(Math.abs(value - (at(0.5, 0.5)[part] ?? 0)), kind).toBeLessThan(41);
  }
  const last = await Promise.all(platform.files.slice(-taken.length).map((file) => file.arrayBuffer()));
  expect(last.map((bytes) => Buffer.from(bytes))).toEqual(taken);
  const damaged = await store("image/jpeg", cmyk.subarray(0, 150));
  await expect(
    channel.compose(outgoing({ text }, { kind: "image", mediaId: damaged.id }), phone),
  ).rejects.toMatchObject({ name: "Unsendable", message: expect.stringContaining("RGB") });
});

test.each([
  ["a text over 1,024 characters", outgoing({ text: "x".repeat(1_025) }), "1024"],
  ["a text of line breaks", outgoing({ text: " \n\t\n" }), "caption"],
])("%s is unsendable, with a reason", async (_what, message, reason) => {
  const { channel } = await openChannel();
  await expect(channel.compose(message, phone)).rejects.toMatchObject({
    name: "Unsendable",
    message: expect.stringContaining(reason),
  });
});

test("media that no template takes are unsendable before they are uploaded", async () => {
  const { platform, channel, store } = await openChannel({
    change: (settings) => ({
      ...settings,
      templates: { language: "id", text: "notice", code: "login_code" },
    }),
  });
  const image = (await store("image/jpeg", await photo())).id;
  const zip = (await store("application/zip", Buffer.from("PK"), "a.zip")).id;
  for (const message of [
    outgoing({ text }, { kind: "image", mediaId: image }),
    outgoing({ text }, { kind: "file", mediaId: zip }),
    { ...code("Kode 4821"), kind: "image" as const, mediaId: image },
  ])
    await expect(channel.compose(message, phone)).rejects.toMatchObject({ name: "Unsendable" });
  expect(platform.requests).toEqual([]);
});

test.each<[string, Behaviour, object]>([
  ["a page of a load balancer", { status: 502, html: "<h1>502</h1>" }, { reason: "upload-failed" }],
  ["a reset", { reset: true, accepted: false }, { reason: "upload-failed" }],
  ["an error of the platform", { code: 131000 }, { reason: "upload-failed" }],
  ["a rate limit", { code: 80007 }, { reason: "upload-failed" }],
  ["an error about the file", { code: 131053 }, { name: "Unsendable" }],
  ["a rejected token", { code: 190 }, { reason: "not-connected" }],
])("an upload that gets %s leaves nothing behind", async (_what, behaviour, failure) => {
  const { platform, channel, store } = await openChannel();
  platform.state.uploads = behaviour;
  const { id } = await store("image/jpeg", await photo());
  const message = outgoing({ text }, { kind: "image", mediaId: id });
  const error = await channel.compose(message, phone).catch((caught: unknown) => caught);
  expect(error).toMatchObject(failure);
  expect(error).not.toMatchObject({ mayHaveLeft: true });
  expect(platform.posts()).toBe(0);
});

test.each([
  100, 4, 80007, 130429, 131008, 131026, 131048, 131049, 131056, 131057, 132001, 132015, 133004, 999_999,
])("the error %i rejects a message, of which nothing is sent", async (given) => {
  const { platform, open, link, deliver } = await openChannel();
  await open();
  platform.state.messages = [{ code: given }];
  expect(await deliver(outgoing({ text }))).toEqual({ outcome: "rejected", code: String(given) });
  expect(link.state().kind).toBe("open");
});

test("a 429 in other words is a rate limit", async () => {
  const { platform, deliver } = await openChannel();
  platform.state.messages = [{ status: 429, html: "slow down" }];
  expect(await deliver(outgoing({ text }))).toEqual({ outcome: "rejected", code: "429" });
  expect(findRejection("cloud-api", "429").action).toBe("slow-down");
});

test.each([190, 0, 10, 200, 299, 368, 131031, 133010, 131042])(
  "the error %i is the account's: nothing has left, and the account is checked",
  async (given) => {
    const { platform, open, kinds, channel, deliver } = await openChannel();
    await open();
    platform.state.messages = [{ code: given }];
    await expect(deliver(outgoing({ text }))).rejects.toMatchObject({ ...notLeft, reason: "not-connected" });
    expect(kinds).toEqual(["open", "closed"]);
    expect(channel.isOpen()).toBe(false);
  },
);

test.each<[string, Behaviour]>([
  ["an unknown error", { code: 131000 }],
  ["a temporary error", { code: 2 }],
  ["an unavailable service", { code: 131016 }],
  ["an unlisted error of the server", { code: 777, status: 500 }],
  ["a page of a load balancer", { status: 502, html: "<h1>502</h1>", accepted: true }],
  ["a page instead of the answer", { status: 200, html: "<h1>Welcome</h1>" }],
  ["a reset before it is taken", { reset: true, accepted: false }],
  ["a reset after it was taken", { reset: true, accepted: true }],
  ["half an answer", { cut: true, accepted: true }],
  ["an endless answer", { flood: true, accepted: true }],
])("after %s a message may have left, and is not posted again", async (_what, behaviour) => {
  const { platform, open, channel, deliver } = await openChannel();
  await open();
  platform.state.messages = [behaviour];
  await expect(deliver(outgoing({ text }))).rejects.toMatchObject(mayHaveLeft);
  expect(platform.posts()).toBe(1);
  expect(channel.isOpen()).toBe(false);
});

test.each([true, false])(
  "without an answer in time a message may have left (taken: %s)",
  async (accepted) => {
    const { platform, deliver } = await openChannel({ timeoutMs: 2_000 });
    platform.state.messages = [{ hang: true, accepted }];
    await expect(deliver(outgoing({ text }))).rejects.toMatchObject({ ...mayHaveLeft, reason: "no-answer" });
    expect(platform.posts()).toBe(1);
    expect(platform.at(phone)).toHaveLength(accepted ? 1 : 0);
  },
);

test("a message that a former leader posts is posted to its end, and one that it has not begun is not", async () => {
  const { platform, channel, end } = await openChannel();
  platform.state.messages = [{ before: async () => end() }];
  const message = outgoing({ text });
  const payload = await channel.compose(message, phone);
  expect(await channel.send(payload, message)).toMatchObject({ outcome: "acked" });
  await expect(channel.send(payload, message)).rejects.toMatchObject({ ...notLeft, reason: "aborted" });
  expect(platform.posts()).toBe(1);
});

test("a host that cannot be reached has got nothing", async () => {
  const { change, platform, channel, open } = await openChannel({ timeoutMs: 2_000 });
  await open();
  const message = outgoing({ text });
  const payload = await channel.compose(message, phone);
  const closed = createServer();
  const { port } = new URL(await listen(closed));
  closed.close();
  await once(closed, "close");
  const garbled = createServer((socket) => void socket.on("error", () => {}).end("no TLS"));
  const addresses = [
    `http://127.0.0.1:${port}`,
    `${(await listen(garbled)).replace("http", "https")}/v23.0`,
    await startDeafServer(),
  ];
  for (const url of addresses) {
    change({ ...settingsOf(platform), url });
    await expect(channel.send(payload, message)).rejects.toMatchObject({
      ...notLeft,
      reason: "not-connected",
    });
  }
  expect(channel.isOpen()).toBe(false);
});

test("a platform within the internal network is not reached", async () => {
  const { channel, platform } = await openChannel({ isGuarded: true });
  await expect(channel.send(Buffer.from("{}"), outgoing({ text }))).rejects.toMatchObject(notLeft);
  expect(platform.requests).toEqual([]);
});

test("settings that cannot be read, or have no valid URL, stop the account and lose nothing", async () => {
  const { platform, channel, change, open, states, kinds } = await openChannel();
  await open();
  const valid = settingsOf(platform);
  for (const settings of [undefined, { ...valid, url: "https://[graph" }]) {
    change(settings);
    await expect(channel.send(Buffer.from("{}"), outgoing({ text }))).rejects.toMatchObject(notLeft);
    change(valid);
    await states("open");
  }
  expect(kinds).toEqual(["open", "closed", "open", "closed", "open"]);
});

test("the check returns the number's digits", async () => {
  const { check } = await openChannel();
  expect(await check(new AbortController().signal)).toBe("6281200000001");
});

test.each<[string, Behaviour | Record<string, unknown>, number | undefined]>([
  ["an expired token", { code: 190 }, 190],
  ["a 401 in other words", { status: 401, html: "no" }, 401],
  ["a locked account", { code: 131031 }, 131031],
  ["a blocked account", { code: 368 }, 368],
  ["a missing permission", { code: 200 }, 200],
  ["a number that is not registered", { code: 133010 }, 133010],
  ["a rate limit", { code: 4 }, undefined],
  ["an unknown error", { code: 131000 }, undefined],
  ["a page of a load balancer", { status: 502, html: "502" }, undefined],
  ["half an answer", { cut: true, accepted: false }, undefined],
])("the check of an account with %s rejects it, or fails for now", async (_what, behaviour, rejected) => {
  const { check, platform } = await openChannel();
  platform.state.numberBehaviour = behaviour as Behaviour;
  const error = await check(new AbortController().signal).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Error);
  if (rejected === undefined) expect(error).not.toBeInstanceOf(AccountRejected);
  else expect(error).toMatchObject({ name: "AccountRejected", code: rejected });
});

test.each([
  ["BANNED", 131031],
  ["DISCONNECTED", 133010],
  ["MIGRATED", 133010],
])("a number that is %s is rejected", async (status, rejected) => {
  const { check, platform } = await openChannel();
  platform.state.number = { ...platform.state.number, status };
  await expect(check(new AbortController().signal)).rejects.toMatchObject({ code: rejected });
});

test("an account whose token is rejected midway stops, and is held", async () => {
  const { platform, open, deliver, states, held } = await openChannel();
  await open();
  expect(await deliver(outgoing({ text }))).toMatchObject({ outcome: "acked" });
  platform.state.token = "another";
  await expect(deliver(outgoing({ text }))).rejects.toMatchObject(notLeft);
  await states("stopped");
  expect(held).toEqual([190]);
  expect(platform.at(phone)).toHaveLength(1);
});
