import { randomBytes } from "node:crypto";
import axios from "axios";
import FormDataPackage from "form-data";
import * as undici from "undici";
import { describe, expect, test } from "vitest";
import { shownOf, useDeliveringCity } from "../steps/city/delivering-city.ts";
import { basicHeader } from "../steps/messaging.ts";
import { field, file, write } from "../steps/multipart.ts";

/** A form with one file, and its URL. */
interface Sending {
  readonly url: string;
  readonly authorization: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The name of the part that holds the file. */
  readonly part: string;
  readonly fileName: string;
  readonly content: Buffer;
}

/** Sends a form with an HTTP client. @returns the body of the answer. */
type Client = (sending: Sending) => Promise<string>;

/**
 * How curl 7.88.1 and Python's requests 2.34.2 encode forms, recorded with their boundaries: a machine may lack
 * both programs.
 */
const recorded = {
  curl: {
    boundary: "------------------------b648b015931977e6",
    /** By file extension. */
    typeOf: (fileName: string) => (fileName.endsWith(".png") ? "image/png" : "application/pdf"),
  },
  // the part of a file has no Content-Type
  requests: { boundary: "dc25266badc9b1c6aefc56b41ca12c55", typeOf: () => "" },
};

const writtenLike =
  ({ boundary, typeOf }: (typeof recorded)[keyof typeof recorded]): Client =>
  async ({ url, authorization, fields, part, fileName, content }) => {
    const texts = Object.entries(fields).map(([name, value]) => field(name, value));
    const body = write([...texts, file(part, fileName, content, typeOf(fileName))], boundary);
    const headers = { authorization, "content-type": `multipart/form-data; boundary=${boundary}` };
    return (await fetch(url, { method: "POST", headers, body: Uint8Array.from(body) })).text();
  };

const fill = <F extends { append(name: string, value: string | Blob, fileName?: string): void }>(
  form: F,
  { fields, part, fileName, content }: Sending,
): F => {
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(part, new Blob([Uint8Array.from(content)]), fileName);
  return form;
};

const undiciFetch: Client = async (sending) => {
  const { url, authorization } = sending;
  const body = fill(new undici.FormData(), sending);
  return (await undici.fetch(url, { method: "POST", headers: { authorization }, body })).text();
};

const axiosWithFormData: Client = async ({ url, authorization, fields, part, fileName, content }) => {
  const form = new FormDataPackage();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(part, content, { filename: fileName });
  const headers = { authorization, ...form.getHeaders() };
  return (await axios.post(url, form, { headers, responseType: "text", transformResponse: [] })).data;
};

const clients = [
  { client: "curl, as recorded", send: writtenLike(recorded.curl) },
  { client: "Python's requests, as recorded", send: writtenLike(recorded.requests) },
  { client: "undici's FormData", send: undiciFetch },
  { client: "axios with form-data", send: axiosWithFormData },
];

const city = useDeliveringCity();
const phone = "6281234567890";
const caption = "*tebal* _miring_ ~coret~ `mono` ñ 👍 “kutip” 100% a+b&c=d;e";
const png = Buffer.concat([
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"),
  randomBytes(50_000),
]);
const nearMisses = Buffer.concat([
  randomBytes(9_000),
  Buffer.from("\r\n--\r\n------WebKitFormBoundary--\r\n\r\n\0\n"),
]);

describe.each(clients)("$client", ({ send }) => {
  const sendTo = async (kind: string, sending: Pick<Sending, "fields" | "fileName" | "content">) => {
    const { messagingBaseUrl, basic } = city.own.city;
    const url = `${messagingBaseUrl}/send/${kind}`;
    return JSON.parse(await send({ ...sending, part: kind, url, authorization: basicHeader(basic) }));
  };

  test("sends an image that arrives unchanged, with its caption and flags", async () => {
    const fields = { phone: `${phone}@s.whatsapp.net`, caption, view_once: "true", duration: "60" };
    const { status, data } = await sendTo("image", { fields, fileName: "foto.png", content: png });
    expect(status).toBe(true);
    const received = await city.arrived(phone, data.id);
    expect([received.text, received.media?.bytes.equals(png)]).toEqual([caption, true]);
    const { viewOnce, context } = shownOf(received);
    // rounded up to what phones know
    expect([viewOnce, context.expiration]).toEqual([true, 86_400]);
  });

  test("sends a file that arrives unchanged, with its name", async () => {
    const fileName = "Surat Keterangan (1) ñ 文.pdf";
    const fields = { phone, caption, is_forwarded: "true" };
    const { code, results } = await sendTo("file", { fields, fileName, content: nearMisses });
    expect(code).toBe("SUCCESS");
    const received = await city.arrived(phone, results.message_id);
    expect([received.text, received.media?.fileName]).toEqual([caption, fileName]);
    expect(received.media?.bytes.equals(nearMisses)).toBe(true);
    expect(shownOf(received).context.isForwarded).toBe(true);
  });
});
