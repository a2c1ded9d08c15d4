import dns from "node:dns";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { acceptedAt, type FakeMessenger, reply, startFakeMessenger } from "../steps/fake-messenger.ts";
import { listen, startDeafServer } from "../steps/http-server.ts";
import { startSecrets } from "../steps/secrets.ts";

const token = "t".repeat(32);
const text = { sender: "api:test", kind: "text", phone: "6281234567890", text: "PLANTED *text* é" } as const;
const withKey = { ...text, idempotency_key: "k-1" };
const accepted = { id: "3EB0PLAYED", status: "PENDING", accepted_at: acceptedAt };
const printed: string[] = [];
let task: FakeMessenger;

/** Loads the client for the simulated task or another URL. */
const load = async (url = task.url) => {
  vi.stubEnv("MESSENGER_URL", url);
  return import("#lib/messaging/messenger-client.ts");
};

beforeAll(async () => {
  task = await startFakeMessenger();
});
afterAll(() => task.stop());
beforeEach(async () => {
  task.behave();
  printed.length = 0;
  const { store } = await startSecrets({ MESSENGER_TOKEN_SECRET_ID: "messenger", LOG_LEVEL: "info" });
  store.put("messenger", JSON.stringify({ token }));
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed.push(String(chunk));
    return true;
  });
  onTestFinished(() => write.mockRestore());
});

describe("a message", () => {
  test("is submitted once as JSON, with the internal token and the key", async () => {
    const { submit } = await load();
    expect(await submit(withKey)).toEqual(accepted);
    expect(task.handed).toHaveLength(1);
    const [{ method, path, headers, submission, content } = {}] = task.handed;
    expect([method, path, content]).toEqual(["POST", "/messages", undefined]);
    expect(headers).toMatchObject({
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    });
    expect(submission).toMatchObject(withKey);
  });

  test("with media is submitted as their bytes, with the submission in a header", async () => {
    const { submit } = await load();
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 256));
    // the longest values that an endpoint accepts, in characters of three bytes
    const described = {
      sender: "api:test",
      kind: "file",
      phone: "6281234567890",
      text: "あ".repeat(1_024),
      file_name: "あ".repeat(255),
      content_type: "text/plain",
      reply_to: "あ".repeat(128),
    } as const;
    expect(await submit(described, { content: bytes })).toEqual(accepted);
    const [{ submission, content } = {}] = task.handed;
    expect(content?.equals(bytes)).toBe(true);
    expect(submission).toMatchObject(described);
  });

  test("is posted below the path of MESSENGER_URL", async () => {
    await (await load(`${task.url}/messenger/`)).submit(text);
    expect(task.handed[0]?.path).toBe("/messenger/messages");
  });
});

test.each([
  [400, { code: "invalid_request", message: "No" }, undefined],
  [409, { code: "idempotency_key_in_use", message: "Under way", retry_after_seconds: 1 }, 1],
  [413, { code: "payload_too_large", message: "Too large" }, undefined],
  [422, { code: "idempotency_key_reused", message: "Another message" }, undefined],
  [429, { code: "too_many", message: "Full", retry_after_seconds: 60 }, 60],
  [502, { code: "fetch_failed", message: "The address answered 500" }, undefined],
  [503, { code: "unavailable", message: "Not now" }, 5],
  [503, { code: "unavailable", message: "Not now", retry_after_seconds: 30 }, 30],
])("an error with %i is returned unchanged", async (status, refused, retryAfterSeconds) => {
  task.behave((_, response) => reply(response, status, refused));
  const { code, message } = refused;
  await expect((await load()).submit(withKey)).rejects.toMatchObject({
    status,
    code,
    message,
    retryAfterSeconds,
  });
  expect(task.handed).toHaveLength(1);
});

const nothing = { status: 503, code: "session_unavailable", retryAfterSeconds: 5 };
const unknown = { status: 503, code: "outcome_unknown", retryAfterSeconds: 5 };

describe("the error says that nothing was accepted when the task", () => {
  test("is not running", async () => {
    const server = createServer();
    const url = await listen(server);
    server.close();
    await once(server, "close");
    await expect((await load(url)).submit(text)).rejects.toMatchObject({
      ...nothing,
      message: "The messaging service is unavailable; the message was not accepted. Send it again.",
    });
  });

  test("has no DNS record", async () =>
    await expect((await load("http://messenger.invalid")).submit(text)).rejects.toMatchObject(nothing));

  // had it waited for the whole time of a request, the outcome would be unknown
  test("accepts no connection within a second", async () =>
    await expect((await load(await startDeafServer())).submit(text)).rejects.toMatchObject(nothing));

  test.each([401, 403, 404, 431])("answers %i without an error of the protocol", async (status) => {
    task.behave((_, response) => reply(response, status, { error: "PLANTED" }));
    await expect((await load()).submit(text)).rejects.toMatchObject(nothing);
    expect(task.handed).toHaveLength(1);
  });

  // the internal token is wrong, not the caller's credentials
  test.each([401, 403])("rejects the internal token with %i, whatever its message", async (status) => {
    task.behave((_, response) => reply(response, status, { code: "FORBIDDEN", message: "PLANTED" }));
    const error = await (await load()).submit(text).catch((reason) => reason);
    expect(error).toMatchObject(nothing);
    expect(error.message).not.toContain("PLANTED");
  });

  test("passes on that the recipient has opted out", async () => {
    task.behave((_, response) => reply(response, 403, { code: "opted_out", message: "It has opted out" }));
    const rejection = { status: 403, code: "opted_out", message: "It has opted out" };
    await expect((await load()).submit(text)).rejects.toMatchObject(rejection);
  });
});

test("the rejection of a class, which is the caller's 403, reaches the caller", async () => {
  const rejected = { code: "class_not_allowed", message: "Use reminder" };
  task.behave((_, response) => reply(response, 403, rejected));
  await expect((await load()).submit(text)).rejects.toMatchObject({ status: 403, ...rejected });
});

describe("the outcome is unknown, and nothing is sent twice, when the task", () => {
  const halfAnswer = JSON.stringify(accepted).slice(0, 20);
  test.each<[string, Parameters<FakeMessenger["behave"]>[0]]>([
    ["cuts the connection", (_, { socket }) => void socket?.resetAndDestroy()],
    ["closes the connection without an answer", (_, { socket }) => void socket?.end()],
    [
      "closes the connection within its answer",
      (_, response) => {
        response.writeHead(201, { "content-length": "200" });
        response.write(halfAnswer, () => response.socket?.resetAndDestroy());
      },
    ],
    ["answers half of it as if it were all", (_, response) => void response.writeHead(201).end(halfAnswer)],
    ["answers 201 without a message", (_, response) => reply(response, 201, {})],
    ["answers 200", (_, response) => reply(response, 200, accepted)],
    ["answers 500", (_, response) => void response.writeHead(500).end("<html>PLANTED</html>")],
    ["answers 500 in the format of the protocol", (_, r) => reply(r, 500, { code: "X", message: "PLANTED" })],
    ["answers 503 like a proxy", (_, response) => void response.writeHead(503).end("no healthy task")],
    ["redirects", (_, response) => void response.writeHead(307, { location: "/elsewhere" }).end()],
    [
      "sends an endless answer",
      (_, response) => {
        response.writeHead(201);
        response.on("drain", () => response.write("x".repeat(65_536)));
        for (let i = 0; i < 4; i++) response.write("x".repeat(65_536));
      },
    ],
  ])("%s", async (_, behave) => {
    task.behave(behave);
    const { submit } = await load();
    await expect(submit(withKey)).rejects.toMatchObject({
      ...unknown,
      message: expect.stringContaining("with the same Idempotency-Key"),
    });
    await expect(submit(text)).rejects.toMatchObject({
      ...unknown,
      message: expect.stringContaining("may deliver it twice"),
    });
    expect(task.handed).toHaveLength(2);
    expect(printed.join("")).not.toMatch(/PLANTED|6281234567890|127\.0\.0\.1/);
  });

  test("does not answer before the timeout", async () => {
    const { submit } = await load();
    const clock = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(clock.signal);
    onTestFinished(() => timeout.mockRestore());
    task.behave(() => clock.abort());
    await expect(submit(withKey)).rejects.toMatchObject(unknown);
    expect(task.handed).toHaveLength(1);
  });
});

test("a submission with a URL times out after 25 s, others after 8 s", async () => {
  const timeout = vi.spyOn(AbortSignal, "timeout");
  onTestFinished(() => timeout.mockRestore());
  const { submit } = await load();
  await submit({
    sender: "api:test",
    kind: "image",
    phone: "6281234567890",
    url: "https://example.com/a.png",
  });
  await submit({ sender: "api:test", kind: "image", phone: "6281234567890" }, { content: Buffer.from("x") });
  await submit(text);
  expect(timeout.mock.calls).toEqual([[25_000], [8_000], [8_000]]);
});

describe("the state of a message", () => {
  const state = { id: "3EB0", status: "READ", accepted_at: acceptedAt, changed_at: acceptedAt };

  test("is requested with the internal token", async () => {
    task.behave((_, response) => reply(response, 200, state));
    expect(await (await load()).findMessage("3EB0", "api:test")).toEqual(state);
    expect(task.handed[0]).toMatchObject({
      method: "GET",
      path: "/messages/3EB0?sender=api%3Atest",
      headers: { authorization: `Bearer ${token}` },
    });
  });

  test("is read from an answer of up to 128 KiB", async () => {
    const { findMessage } = await load();
    for (const [bytes, read] of [
      [131_072, true],
      [131_073, false],
    ] as const) {
      task.behave((_, response) => void response.end(JSON.stringify(state).padEnd(bytes)));
      const found = findMessage("3EB0", "api:test");
      if (read) expect(await found).toEqual(state);
      else await expect(found).rejects.toMatchObject(nothing);
    }
  });

  test("is undefined for an id that the task does not know", async () => {
    task.behave((_, response) => reply(response, 404, { code: "not_found", message: "No" }));
    expect(await (await load()).findMessage("x", "api:test")).toBeUndefined();
  });

  test.each<[string, Parameters<FakeMessenger["behave"]>[0]]>([
    ["cuts the connection", (_, { socket }) => void socket?.resetAndDestroy()],
    ["answers with another body", (_, response) => reply(response, 200, { id: 1 })],
    ["answers 500", (_, response) => reply(response, 500, {})],
    ["answers 404 like a proxy", (_, response) => void response.writeHead(404).end("<html>")],
    [
      "rejects the internal token",
      (_, response) => reply(response, 403, { code: "FORBIDDEN", message: "No" }),
    ],
  ])("is 503 when the task %s", async (_, behave) => {
    task.behave(behave);
    await expect((await load()).findMessage("x", "api:test")).rejects.toMatchObject(nothing);
  });
});

describe("when the name of the messenger has the addresses of two tasks", () => {
  /** The name leads to these addresses on loopback, in this order. */
  const resolveTo = (...addresses: readonly string[]) => {
    const found = addresses.map((address) => ({ address, family: 4 }));
    const lookup = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_name, _options, done) =>
        process.nextTick(done, null, found)) as typeof dns.lookup);
    onTestFinished(() => lookup.mockRestore());
  };

  test("and the first one refuses connections, the second one accepts the message", async () => {
    resolveTo("127.0.0.2", "127.0.0.1");
    const { submit } = await load(`http://messenger.internal:${new URL(task.url).port}`);
    expect(await submit(text)).toEqual(accepted);
    expect(task.handed).toHaveLength(1);
  });

  test("and the first one has vanished without a word, the second one accepts the message", async () => {
    const { port } = new URL(await startDeafServer());
    const other = createServer((socket) =>
      socket.pipe(connect(Number(new URL(task.url).port), "127.0.0.1")).pipe(socket),
    );
    other.listen(Number(port), "127.0.0.2");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    resolveTo("127.0.0.1", "127.0.0.2");
    const { submit } = await load(`http://messenger.internal:${port}`);
    expect(await submit(text)).toEqual(accepted);
    expect(task.handed).toHaveLength(1);
  });
});
