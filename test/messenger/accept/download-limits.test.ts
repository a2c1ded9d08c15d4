import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serve, serveRaw } from "../../steps/http-server.ts";
import { download, openLoopback } from "../../steps/loopback.ts";

const tooLarge = { status: 413, code: "payload_too_large" };

/** Serves bytes with Content-Length, or in two pieces without. */
const serveBytes = (bytes: Buffer, { announced = true, coding = "identity" }) =>
  serve((_request, response) => {
    response.setHeader("content-encoding", coding);
    if (!announced) response.write(bytes.subarray(0, -1));
    response.end(announced ? bytes : bytes.subarray(-1));
  });

test("rejects a Content-Length over the limit before the body arrives", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { "content-length": 1001 }).flushHeaders();
  });
  await expect(openLoopback(url, { maxBytes: 1000 })).rejects.toMatchObject({
    ...{ status: 413, code: "payload_too_large", message: expect.stringContaining("1000 bytes") },
  });
});

test.each([true, false])(
  "accepts exactly the allowed number of bytes, with Content-Length: %s",
  async (announced) => {
    const bytes = randomBytes(10_001);
    const url = await serveBytes(bytes, { announced });
    expect((await download(url, { maxBytes: 10_001 })).equals(bytes)).toBe(true);
    await expect(download(url, { maxBytes: 10_000 })).rejects.toMatchObject(tooLarge);
  },
);

test("stops a body of unknown size at the first byte over the limit", async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((_request, response) => {
    response.on("close", closed.resolve);
    const pour = () => {
      while (response.write(Buffer.alloc(16_384)));
      response.once("drain", pour);
    };
    pour();
  });
  await expect(download(url, { maxBytes: 100_000 })).rejects.toMatchObject(tooLarge);
  await closed.promise;
});

test.each([
  ["gzip", gzipSync(Buffer.alloc(30_000_000))],
  ["deflate", deflateSync(Buffer.alloc(30_000_000))],
  ["br", brotliCompressSync(Buffer.alloc(30_000_000))],
])("ends a %s bomb at the byte too many, after few of its bytes were handed on", async (coding, bomb) => {
  expect(bomb.length).toBeLessThan(100_000);
  const url = await serve((_request, response) => {
    response.setHeader("content-encoding", coding);
    response.end(bomb);
  });
  const { body } = await openLoopback(url, { maxBytes: 500_000 });
  let received = 0;
  const reading = (async () => {
    for await (const chunk of body) received += chunk.length;
  })();
  await expect(reading).rejects.toMatchObject({ status: 413, code: "payload_too_large" });
  expect(received).toBeLessThanOrEqual(500_000);
});

describe.each([true, false])("a compressed body, with Content-Length: %s", (announced) => {
  test("may be longer than its content, as for random bytes", async () => {
    const file = randomBytes(300_000);
    const packed = gzipSync(file, { level: 0 });
    expect(packed.length).toBeGreaterThan(file.length);
    const url = await serveBytes(packed, { announced, coding: "gzip" });
    expect((await download(url, { maxBytes: file.length })).equals(file)).toBe(true);
    await expect(download(url, { maxBytes: file.length - 1 })).rejects.toMatchObject(tooLarge);
  });

  test("may exceed the limit of its content by 2 % and 1 KiB, not more", async () => {
    // empty stored blocks of deflate, five bytes each, after the header
    const pad = (bytes: Buffer) =>
      Buffer.concat([
        bytes.subarray(0, 2),
        ...Array<Buffer>(20_602).fill(Buffer.from([0, 0, 0, 0xff, 0xff])),
        bytes.subarray(2),
      ]);
    const [most, more] = ["abc", "abcd"].map((text) => pad(deflateSync(text, { level: 0 })));
    if (!most || !more) return expect.unreachable();
    expect([most.length, more.length]).toEqual([103_024, 103_025]);
    const serving = { announced, coding: "deflate" };
    expect(String(await download(await serveBytes(most, serving), { maxBytes: 100_000 }))).toBe("abc");
    await expect(download(await serveBytes(more, serving), { maxBytes: 100_000 })).rejects.toMatchObject({
      ...tooLarge,
      message: expect.stringContaining("100000 bytes"),
    });
  });
});

describe("the timeout of 20 s", () => {
  const tooSlow = {
    ...{ status: 400, code: "invalid_request", message: expect.stringContaining("longer than 20 s") },
  };
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  test("includes redirects", async () => {
    const opened = Promise.withResolvers<ServerResponse>();
    const url = await serve(({ url: path }, response) => {
      vi.advanceTimersByTime(6_000);
      if (path !== "/file")
        return void response.writeHead(302, { location: path === "/" ? "/b" : "/file" }).end();
      response.write("a");
      opened.resolve(response);
    });
    const pieces = (await openLoopback(url)).body[Symbol.asyncIterator]();
    const response = await opened.promise;
    expect(String((await pieces.next()).value)).toBe("a");
    vi.advanceTimersByTime(1_999);
    response.write("b");
    expect(String((await pieces.next()).value)).toBe("b");
    vi.advanceTimersByTime(1);
    response.end();
    await expect(pieces.next()).rejects.toMatchObject(tooSlow);
  });

  test.each([
    ["headers", "HTTP/1.1 200 OK\r\n", "a: b\r\n"],
    ["a body", "HTTP/1.1 200 OK\r\n\r\n", "."],
  ])("stops %s sent in a slow trickle", async (_what, start, piece) => {
    const url = await serveRaw((socket) => {
      socket.write(start);
      let left = 20;
      const trickle = () => {
        vi.advanceTimersByTime(1_000);
        if (left-- > 0) socket.write(piece, () => void setImmediate(trickle));
        else socket.end(start.endsWith("\r\n\r\n") ? "" : "\r\n");
      };
      trickle();
    });
    await expect(download(url)).rejects.toMatchObject(tooSlow);
  });

  test("applies to slow readers too, and closes the connection", async () => {
    const opened = Promise.withResolvers<ServerResponse>();
    const url = await serve((_request, response) => {
      response.write("a");
      opened.resolve(response);
    });
    const { body } = await openLoopback(url);
    const closed = once(await opened.promise, "close");
    vi.advanceTimersByTime(20_000);
    await closed;
    await expect(buffer(body)).rejects.toMatchObject(tooSlow);
  });
});
