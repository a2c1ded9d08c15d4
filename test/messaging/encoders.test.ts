import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import axios from "axios";
import FormDataPackage from "form-data";
import * as undici from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { basicHeader } from "../contract/system.ts";
import { shownOf, useDeliveringCity } from "../steps/delivering-city.ts";

/** A form with one file, and where it goes. */
interface Sending {
  readonly url: string;
  readonly authorization: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The name of the part that holds the file. */
  readonly part: string;
  readonly fileName: string;
  readonly content: Buffer;
}

/** Sends a form as one kind of client does. @returns the answer's text. */
type Client = (sending: Sending) => Promise<string>;

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "encoders-"));
afterAll(() => rmSync(folder, { recursive: true }));

const keep = (content: Buffer): string => {
  const path = join(folder, randomBytes(6).toString("hex"));
  writeFileSync(path, content);
  return path;
};

const isInstalled = (program: string): Promise<boolean> =>
  run(program, ["--version"]).then(
    () => true,
    () => false,
  );

const fill = <F extends { append(name: string, value: string | Blob, fileName?: string): void }>(
  form: F,
  { fields, part, fileName, content }: Sending,
): F => {
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(part, new Blob([Uint8Array.from(content)]), fileName);
  return form;
};

const curl: Client = async ({ url, authorization, fields, part, fileName, content }) => {
  const texts = Object.entries(fields).flatMap(([name, value]) => ["--form-string", `${name}=${value}`]);
  const file = ["-F", `${part}=@${keep(content)};filename="${fileName}"`];
  const { stdout } = await run("curl", [
    ...["-sS", "--max-time", "15", "-H", `Authorization: ${authorization}`, ...texts, ...file, url],
  ]);
  return stdout;
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

/** What Python's standard library offers for a form: the body is put together by hand. */
const pythonScript = `
import http.client, json, sys, urllib.parse, uuid
sending = json.load(sys.stdin)
boundary = uuid.uuid4().hex
body = b""
for name, value in sending["fields"].items():
    body += f'--{boundary}\\r\\nContent-Disposition: form-data; name="{name}"\\r\\n\\r\\n{value}\\r\\n'.encode()
disposition = f'form-data; name="{sending["part"]}"; filename="{sending["fileName"]}"'
body += f'--{boundary}\\r\\nContent-Disposition: {disposition}\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\n'.encode()
with open(sending["path"], "rb") as file:
    body += file.read() + f"\\r\\n--{boundary}--\\r\\n".encode()
url = urllib.parse.urlsplit(sending["url"])
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=15)
connection.request("POST", url.path, body, {
    "Authorization": sending["authorization"], "Content-Type": f"multipart/form-data; boundary={boundary}"})
sys.stdout.buffer.write(connection.getresponse().read())
`;

const python: Client = async ({ content, ...sending }) => {
  const running = run("python3", ["-c", pythonScript]);
  running.child.stdin?.end(JSON.stringify({ ...sending, path: keep(content) }));
  return (await running).stdout;
};

/** A program that this machine lacks is named in the list of tests, as skipped. */
const clients = [
  { client: "curl", send: curl, here: await isInstalled("curl") },
  { client: "undici's FormData", send: undiciFetch, here: true },
  { client: "axios with form-data", send: axiosWithFormData, here: true },
  { client: "Python's standard library", send: python, here: await isInstalled("python3") },
].map(({ client, here, ...rest }) => ({
  client: here ? client : `${client} (not installed here: skipped)`,
  here,
  ...rest,
}));

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

describe.each(clients)("$client", ({ send, here }) => {
  const sendTo = async (kind: string, sending: Pick<Sending, "fields" | "fileName" | "content">) => {
    const { messagingBaseUrl, basic } = city.own.city;
    const url = `${messagingBaseUrl}/send/${kind}`;
    return JSON.parse(await send({ ...sending, part: kind, url, authorization: basicHeader(basic) }));
  };

  test.runIf(here)("sends an image that arrives byte for byte, with its caption and flags", async () => {
    const fields = { phone: `${phone}@s.whatsapp.net`, caption, view_once: "true", duration: "60" };
    const { status, data } = await sendTo("image", { fields, fileName: "foto.png", content: png });
    expect(status).toBe(true);
    const received = await city.arrived(phone, data.id);
    expect([received.text, received.media?.bytes.equals(png)]).toEqual([caption, true]);
    const { viewOnce, context } = shownOf(received);
    expect([viewOnce, context.expiration]).toEqual([true, 60]);
  });

  test.runIf(here)("sends a file that arrives byte for byte, under its name", async () => {
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
