import { once } from "node:events";
import { connect } from "node:net";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { Accepted } from "#lib/messaging/submission.ts";
import type { ServerOptions } from "#lib/messenger/server.ts";
import { captureLog } from "../console/console-browser.ts";
import { buildEmptyServer } from "../steps/messenger-server.ts";

const accepted: Accepted = { id: "1", status: "PENDING", accepted_at: "2026-01-05T02:00:00.000Z" };
const token = "token";

let url: URL;
/** The requests in progress; each ends when its function is called. */
let pending: (() => void)[];
/** Whether requests stay in progress. */
let holds: boolean;
let gone: number;

const listen = async (timeouts: Partial<Pick<ServerOptions, "timeouts">> = {}): Promise<URL> => {
  const server = buildEmptyServer({
    findTokens: async () => [token],
    accept: async (_submission, _inline, signal) => {
      signal.addEventListener("abort", () => {
        gone += 1;
      });
      if (holds) await new Promise<void>((resolve) => pending.push(resolve));
      signal.throwIfAborted();
      return accepted;
    },
    ...timeouts,
  });
  onTestFinished(() => {
    for (const end of pending) end();
  });
  return new URL(await server.listen({ host: "127.0.0.1", port: 0 }));
};

beforeEach(async () => {
  pending = [];
  holds = true;
  gone = 0;
  url = await listen();
});

const header = Buffer.from(
  JSON.stringify({ sender: "api:test", kind: "image", phone: "6281234567890" }),
).toString("base64url");

const upload = (bytes: number, signal?: AbortSignal) =>
  fetch(new URL("/messages", url), {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/octet-stream",
      "x-submission": header,
    },
    body: Buffer.alloc(bytes),
    ...(signal && { signal }),
  });

const download = (kind: "image" | "file") =>
  fetch(new URL("/messages", url), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sender: "api:test", kind, phone: "6281234567890", url: "https://example.com/a" }),
  });

const untilPending = (count: number) => expect.poll(() => pending.length).toBe(count);
const endAll = () => {
  for (const end of pending.splice(0)) end();
};
const mib = 1024 * 1024;

test("takes 40 MiB of uploads at a time, and rejects the next at once with a time to try again", async () => {
  const first = Array.from({ length: 10 }, () => upload(4 * mib));
  await untilPending(10);
  const next = await upload(4 * mib);
  expect(next.status).toBe(503);
  expect((await upload(6 * mib)).status).toBe(503);
  const state = new URL("/messages/unknown?sender=api:test", url);
  expect((await fetch(state, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404);
  expect(await next.json()).toMatchObject({ code: "session_unavailable", retry_after_seconds: 5 });
  endAll();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect((await upload(6 * mib)).status).toBe(413);
  const later = upload(4 * mib);
  await untilPending(1);
  endAll();
  expect((await later).status).toBe(201);
});

test("counts 16 MiB for an image from a URL, and nothing for a file, which is read in pieces", async () => {
  const images = [download("image"), download("image")];
  await untilPending(2);
  expect((await download("image")).status).toBe(503);
  const file = download("file");
  await untilPending(3);
  endAll();
  expect((await Promise.all([...images, file])).map(({ status }) => status)).toEqual([201, 201, 201]);
});

test("the bytes of a caller who has gone stay counted until the work for him ends", async () => {
  const leaving = new AbortController();
  const first = Array.from({ length: 10 }, () => upload(4 * mib, leaving.signal).catch(() => {}));
  await untilPending(10);
  leaving.abort();
  await Promise.all(first);
  await expect.poll(() => gone).toBe(10);
  expect((await upload(4 * mib)).status).toBe(503);
  endAll();
  const next = upload(4 * mib);
  await untilPending(1);
  endAll();
  expect((await next).status).toBe(201);
});

test("a caller who has gone is no error in the log", async () => {
  const lines = captureLog();
  const leaving = new AbortController();
  const left = upload(1_000, leaving.signal).catch(() => {});
  await untilPending(1);
  leaving.abort();
  await left;
  await expect.poll(() => gone).toBe(1);
  endAll();
  const next = upload(1_000);
  await untilPending(1);
  endAll();
  expect((await next).status).toBe(201);
  expect(lines.filter((line) => JSON.parse(line).level !== "info")).toEqual([]);
});

test("a body that is sent slowly is cut off", async () => {
  const { port, hostname } = await listen({ timeouts: { receiveMs: 300, idleMs: 300 } });
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nx-submission: ${header}\r\n` +
      "content-type: application/octet-stream\r\ncontent-length: 100\r\n\r\n",
  );
  const drip = setInterval(() => socket.write("."), 50);
  onTestFinished(() => clearInterval(drip));
  // what is still on its way when the server closes is answered by a reset
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 408 /);
  await closed;
});

test("a caller who leaves while his body is read gives its bytes back", async () => {
  holds = false; // an upload that is taken before the bodies are begun, or after their end, is answered
  const sockets = Array.from({ length: 8 }, () => connect(Number(url.port), url.hostname));
  for (const socket of sockets)
    socket.write(
      `POST /messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nx-submission: ${header}\r\n` +
        `content-type: application/octet-stream\r\ncontent-length: ${5 * mib}\r\n\r\nbegun`,
    );
  await expect.poll(async () => (await upload(1)).status).toBe(503);
  for (const socket of sockets) {
    socket.destroy();
    await once(socket, "close");
  }
  await expect.poll(async () => (await upload(4 * mib)).status).toBe(201);
});
