import { afterEach, describe, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { multipartEndpoint } from "#lib/http/multipart-endpoint.ts";
import type { Upload } from "#lib/routes/fields.ts";
import { route } from "#lib/routes/route.ts";
import { boundary, field, file, parse, write } from "../steps/multipart.ts";

vi.spyOn(process.stdout, "write").mockReturnValue(true);

const row = route({
  fn: "tourism/test",
  method: "POST",
  path: "/test",
  summary: "",
  auth: { kind: "public" },
  body: z.object({
    phone: z.string({ error: "phone must be text" }),
    image: z.optional(
      z.custom<Upload>((image) => typeof image === "object", { error: "image must be a file" }),
    ),
  }),
  encoding: "multipart",
  reply: z.unknown(),
  errors: integrationEnvelope,
  secrets: {},
  timeoutSeconds: 1,
  memoryMb: 128,
});

const handler = multipartEndpoint(row).handler(async ({ body: { phone, image } }) => ({
  phone,
  image: image?.content.toString(),
}));

const ask = async (body: Buffer | null, contentType = `multipart/form-data; boundary=${boundary}`) => {
  const event = {
    headers: { "CONTENT-Type": contentType },
    body: body?.toString("base64") ?? null,
    isBase64Encoded: true,
    requestContext: { requestId: "id-1", identity: {} },
  };
  const context = { getRemainingTimeInMillis: () => 5_000 };
  const { statusCode, body: json } = await handler(event as never, context as never);
  return { status: statusCode, json: JSON.parse(json) };
};

describe("a route with encoding multipart", () => {
  test("gets fields and files together, with header names in any case", async () =>
    expect(await ask(write([field("phone", "628"), file("image", "a.png", "DATA")]))).toEqual({
      status: 200,
      json: { phone: "628", image: "DATA" },
    }));

  test("names the field when it has a file instead of text or text instead of a file", async () => {
    const { status, json } = await ask(write([file("phone", "a", "x"), field("image", "x")]));
    expect([status, json.errors]).toEqual([
      400,
      [
        { field: "phone", message: "phone must be text" },
        { field: "image", message: "image must be a file" },
      ],
    ]);
  });

  test("returns thrown errors in the area's format", async () => {
    expect((await ask(null)).json).toMatchObject({ status: "error", code: "invalid_request" });
    expect(await ask(write([field("phone", "628")]), "multipart/form-data")).toMatchObject({
      status: 500,
      json: { message: "request Content-Type has bad boundary or is not multipart/form-data" },
    });
    expect((await ask(Buffer.alloc(5 * 1024 * 1024))).status).toBe(413);
  });
});

describe("a parser that fails on a valid body", () => {
  const good = write([field("t", "x"), file("f", "a", "DATA")]);
  const parseBy = async (parser: () => unknown) => {
    vi.resetModules();
    vi.doMock("lambda-multipart-parser", () => ({ parse: parser }));
    const { parseMultipart } = await import("#lib/http/multipart.ts");
    const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
    return parseMultipart({ headers, body: good.toString(), isBase64Encoded: false });
  };
  const upload = { fieldname: "f", content: Buffer.from("DATA") };
  afterEach(() => {
    vi.doUnmock("lambda-multipart-parser");
    vi.useRealTimers();
  });

  test.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["rejects", () => Promise.reject(new Error("boom"))],
    ["loses a field", async () => ({ files: [upload] })],
    ["loses a file", async () => ({ files: [], t: "x" })],
    ["changes a field", async () => ({ files: [upload], t: "y" })],
    ["changes a file", async () => ({ files: [{ ...upload, content: Buffer.from("DAT") }], t: "x" })],
  ])("because it %s is 400", async (_, parser) =>
    expect(parseBy(parser)).rejects.toMatchObject({ status: 400, code: "invalid_request" }),
  );

  test("because it never answers is 400 after two seconds", async () => {
    vi.useFakeTimers();
    const answer = expect(parseBy(() => new Promise(() => {}))).rejects.toMatchObject({
      status: 400,
      message: "The body is not valid multipart/form-data",
    });
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await vi.advanceTimersByTimeAsync(2_000);
    await answer;
  });

  test("leaves no timer behind on success", async () => {
    vi.useFakeTimers();
    expect((await parse(good)).fields).toEqual({ t: "x" });
    expect(vi.getTimerCount()).toBe(0);
  });
});
