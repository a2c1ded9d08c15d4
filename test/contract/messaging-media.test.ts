import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { useMessagingCity } from "../steps/city/messaging-city.ts";
import { acceptedAt, reply } from "../steps/fake-messenger.ts";
import { formOf } from "../steps/messaging.ts";
import { boundary, field, file, type WrittenPart, write } from "../steps/multipart.ts";
import { wrongDurations, wrongFiles, wrongFormPhones, wrongImages } from "./cases/messaging-media.ts";

const city = useMessagingCity();
const phone = "6281234567890";
const png = Buffer.concat([
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"),
  randomBytes(50_000),
]);
const jpeg = Buffer.concat([Buffer.from("ffd8ffc0000b080001000101011100", "hex"), randomBytes(1_000)]);
const imageUrl = "https://example.com/a%20b.png?x=1&y=2";

/** What is wrong with a request that must not reach the messenger. */
const refuse = async (kind: "image" | "file", fields: Record<string, string | Buffer>, fileName?: string) => {
  const { status, json } = await city.client.sendForm(kind, formOf(fields, fileName));
  expect([status, json.status, json.code]).toEqual([400, false, "VALIDATION_ERROR"]);
  expect(city.task.handed).toEqual([]);
  return json.message as string;
};
const handOver = async (
  kind: "image" | "file",
  fields: Record<string, string | Buffer>,
  fileName?: string,
) => {
  const { status } = await city.client.sendForm(kind, formOf(fields, fileName));
  expect([status, city.task.handed.length]).toEqual([200, 1]);
  return city.task.handed[0] ?? expect.fail("nothing was handed over");
};

describe("POST /send/image", () => {
  test.each([
    ["PNG", png],
    ["JPG", jpeg],
  ])("accepts an uploaded %s with any name, and hands it over unchanged", async (_, image) => {
    const { status, json } = await city.client.sendForm("image", formOf({ phone, image }, "a.gif"));
    expect([status, json]).toEqual([
      200,
      { status: true, data: { id: "3EB0PLAYED", status: "PENDING", message: expect.any(String) } },
    ]);
    const [{ submission, content } = {}] = city.task.handed;
    expect(submission).toMatchObject({ kind: "image", phone });
    expect(content?.equals(image)).toBe(true);
  });

  test("accepts a URL, which the messenger downloads", async () => {
    const { submission, content } = await handOver("image", { phone, image_url: imageUrl });
    expect(submission).toMatchObject({ kind: "image", phone, url: imageUrl });
    expect(content).toBeUndefined();
  });

  test("hands over what the form says, and defaults for the rest", async () => {
    const plain = await handOver("image", { phone, image: png, note: "unknown" });
    expect(plain.submission).toEqual({
      sender: expect.stringMatching(/^api:./),
      ...{ kind: "image", phone, class: "transactional" },
      ...{ view_once: false, compress: false, is_forwarded: false, expires_in_seconds: 259_200 },
    });
    city.task.behave();
    const caption = "*Bukti* ~lama~ 👍";
    const full = await handOver("image", {
      ...{ phone: `${phone}@s.whatsapp.net`, image: png, caption, view_once: "TRUE", compress: "1" },
      ...{ is_forwarded: "True", duration: "86400" },
    });
    expect(full.submission).toMatchObject({
      ...{ phone, text: caption, view_once: true, compress: true, is_forwarded: true },
      duration_seconds: 86_400,
    });
  });

  test.each(["", "null", " undefined\n"])("treats fields with the text %j as absent", async (none) => {
    const names = ["caption", "image_url", "view_once", "compress", "duration", "is_forwarded"];
    const fields = Object.fromEntries(names.map((name) => [name, none]));
    const { submission } = await handOver("image", { phone, image: png, ...fields });
    expect(submission).toMatchObject({ view_once: false, compress: false, is_forwarded: false });
    expect([submission?.text, submission?.url, submission?.duration_seconds]).toEqual(
      Array(3).fill(undefined),
    );
  });

  test.each([
    ["on", true],
    ["OFF", false],
  ])("reads the flag %s of a checkbox", async (value, meaning) => {
    const flags = { view_once: value, compress: value, is_forwarded: value };
    const { submission } = await handOver("image", { phone, image: png, ...flags });
    expect(submission).toMatchObject({ view_once: meaning, compress: meaning, is_forwarded: meaning });
  });

  test.each(wrongImages)("hands nothing over of %s", async (_, fields, words) =>
    expect(await refuse("image", fields, "a.png")).toContain(words),
  );
});

describe.each([
  ["image", png],
  ["file", Buffer.from("hello")],
] as const)("POST /send/%s", (kind, source) => {
  test.each(wrongFormPhones)("hands nothing over to the phone %j", async (wrong, words) =>
    expect(await refuse(kind, { phone: wrong, [kind]: source })).toContain(words),
  );

  test.each(wrongDurations)("hands nothing over with duration=%s", async (duration) =>
    expect(await refuse(kind, { phone, [kind]: source, duration })).toContain("duration must be"),
  );

  test("hands over duration=0, which keeps the message", async () =>
    expect(
      (await handOver(kind, { phone, [kind]: source, duration: "0" })).submission?.duration_seconds,
    ).toBe(0));

  test("hands over the Idempotency-Key", async () => {
    await city.client.sendForm(kind, formOf({ phone, [kind]: source }), { "idempotency-key": "k-1" });
    expect(city.task.handed[0]?.submission?.idempotency_key).toBe("k-1");
  });
});

describe("POST /send/file", () => {
  test("answers SUCCESS with destination and server timestamp in the message and the status", async () => {
    const { status, json } = await city.client.sendForm(
      "file",
      formOf({ phone, file: Buffer.from("hello") }),
    );
    const { message } = json;
    expect([status, json]).toEqual([
      200,
      { code: "SUCCESS", message, results: { message_id: "3EB0PLAYED", status: message } },
    ]);
    expect(message).toContain(phone);
    expect(message).toContain(acceptedAt);
  });

  test("accepts any bytes with their name and type", async () => {
    const bytes = randomBytes(200_000);
    const form = formOf({ phone, caption: "Surat", reply_message_id: "3EB0FF", is_forwarded: "1" });
    form.append("file", new Blob([bytes], { type: "Application/PDF" }), `${"x".repeat(230)} é.pdf`);
    expect((await city.client.sendForm("file", form)).status).toBe(200);
    const [{ submission, content } = {}] = city.task.handed;
    expect(content?.equals(bytes)).toBe(true);
    expect(submission).toMatchObject({
      ...{ kind: "file", text: "Surat", reply_to: "3EB0FF", is_forwarded: true },
      content_type: "application/pdf",
    });
    expect(submission?.file_name).toBe(`${"x".repeat(230)} é.pdf`);
  });

  test.each(["", "null", "undefined"])("quotes no message for a reply_message_id of %j", async (none) => {
    const fields = { phone, file: Buffer.from("x"), reply_message_id: none };
    expect((await handOver("file", fields)).submission).not.toHaveProperty("reply_to");
  });

  test("accepts a URL beside a file input that a script set to null", async () => {
    const file_url = "https://example.com/a.pdf";
    expect((await handOver("file", { phone, file_url, file: "null" })).submission?.url).toBe(file_url);
  });

  test("hands over decoded what a client sends in quoted-printable", async () => {
    const encoded = (part: WrittenPart, content: string): WrittenPart => ({
      headers: [...part.headers, "Content-Transfer-Encoding: Quoted-Printable"],
      content,
    });
    const body = write([
      field("phone", phone),
      encoded(field("caption", ""), "Surat =E2=82=AC 5 =\r\n=3D lunas"),
      encoded(file("file", "a.pdf", "", "application/pdf"), "%PDF=00=ff=\r\n=0d=0A"),
    ]);
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    const { status } = await city.client.ask("/send/file", { headers, body: Uint8Array.from(body) });
    const [{ submission, content } = {}] = city.task.handed;
    expect([status, submission?.text]).toEqual([200, "Surat € 5 = lunas"]);
    expect(content).toEqual(Buffer.from("%PDF\0\xff\r\n", "latin1"));
  });

  test("accepts a URL", async () => {
    const file_url = "https://example.com/a.pdf";
    const { submission, content } = await handOver("file", { phone, file_url });
    expect([submission?.url, content]).toEqual([file_url, undefined]);
  });

  test.each(wrongFiles)("hands nothing over of %s, and downloads nothing", async (_, fields, words) =>
    expect(await refuse("file", fields)).toContain(words),
  );
});

test("the messenger's error for a URL is returned", async () => {
  const message = "The address leads into a private network";
  city.task.behave((_, response) => reply(response, 400, { code: "invalid_request", message }));
  const { status, json } = await city.client.sendForm(
    "file",
    formOf({ phone, file_url: "http://10.0.0.1/" }),
  );
  expect([status, json]).toEqual([400, { status: false, code: "VALIDATION_ERROR", message }]);
});

test("no log contains a number, caption, URL or file name", () => {
  const lines = city.own.lines.join("\n");
  expect(city.own.lines.length).toBeGreaterThan(20);
  for (const planted of [phone, "Bukti", "Surat", "example.com", "10.0.0.1", ".pdf"])
    expect(lines).not.toContain(planted);
});
