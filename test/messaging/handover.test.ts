import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { ApiError } from "#lib/errors/api-error.ts";
import { keyInUse, notWaiting } from "#lib/errors/table.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import type { ServerOptions } from "#lib/messenger/server.ts";
import { buildEmptyServer } from "../steps/messenger-server.ts";
import { startSecrets } from "../steps/secrets.ts";

/** Tests both sides of `lib/messaging/submission.ts`: the client of the endpoints and the server of the task. */
const accepted = { id: "3EB0", status: "PENDING", accepted_at: "2025-06-01T08:00:00.123Z" } as const;
const taken: { submission: Submission; bytes: Buffer | undefined }[] = [];
let token: string;

const start = async (options: Partial<ServerOptions> = {}) => {
  const server = buildEmptyServer({
    findTokens: async () => ["another".repeat(5), "t".repeat(32)],
    accept: async (submission, inline) => {
      taken.push({ submission, bytes: inline && Buffer.from(inline) });
      return accepted;
    },
    acceptBatch: async (submissions) => submissions.map((_, index) => `3EB${index}`),
    ...options,
  });
  vi.stubEnv("MESSENGER_URL", await server.listen({ host: "127.0.0.1", port: 0 }));
  const { store } = await startSecrets({ MESSENGER_TOKEN_SECRET_ID: "messenger" });
  store.put("messenger", JSON.stringify({ token }));
  return import("#lib/messaging/messenger-client.ts");
};

beforeEach(() => {
  taken.length = 0;
  token = "t".repeat(32);
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
});

test("a text arrives with its options and the defaults for the others", async () => {
  const { submit } = await start();
  const text = {
    sender: "api:test",
    kind: "text",
    phone: "6281234567890",
    text: "*é* 👍",
    idempotency_key: "k",
  } as const;
  expect(await submit(text)).toEqual(accepted);
  expect(taken).toEqual([
    { submission: expect.objectContaining({ ...text, view_once: false }), bytes: undefined },
  ]);
});

test("the largest upload arrives unchanged, with the longest description", async () => {
  const { submit } = await start();
  const bytes = Buffer.alloc(4 * 1024 * 1024, "0123456789");
  const described = {
    sender: "api:test",
    kind: "file",
    phone: "6281234567890",
    text: "あ".repeat(1_024),
    idempotency_key: "k".repeat(255),
    file_name: "あ".repeat(255),
    content_type: "x".repeat(161),
    reply_to: "あ".repeat(128),
  } as const;
  expect(await submit(described, { content: bytes })).toEqual(accepted);
  expect(taken[0]?.submission).toMatchObject(described);
  expect(taken[0]?.bytes?.equals(bytes)).toBe(true);
});

test("an error arrives with its status, message and retry time", async () => {
  const { submit } = await start({
    accept: async () => {
      throw new ApiError(keyInUse);
    },
  });
  await expect(
    submit({ sender: "api:test", kind: "text", phone: "6281234567890", text: "x" }),
  ).rejects.toMatchObject({
    ...keyInUse,
  });
});

test("a batch arrives completely, and its ids return in order", async () => {
  const batches: (readonly Submission[])[] = [];
  const { submitBatch } = await start({
    acceptBatch: async (submissions) => {
      batches.push(submissions);
      return submissions.map(({ idempotency_key }) => `id of ${idempotency_key}`);
    },
  });
  const quiet_hours = { from: "20:00", to: "07:00", time_zone: "Asia/Jakarta" };
  const drafts = Array.from({ length: 500 }, (_, n) => ({
    sender: "api:test",
    kind: "text" as const,
    phone: "6281234567890",
    text: "あ".repeat(1_000),
    class: "reminder" as const,
    idempotency_key: `k${n}`,
    quiet_hours,
    run: "4f0c9a6e-0d5b-4a52-9d0e-1b7f5a2c8e01",
  }));
  expect(await submitBatch(drafts)).toEqual(drafts.map(({ idempotency_key: key }) => `id of ${key}`));
  expect(batches[0]?.[499]).toMatchObject({ ...drafts[499], expires_in_seconds: 259_200 });
});

test.each([
  ["is empty", []],
  ["contains a text without a key", [{ idempotency_key: undefined }]],
  ["contains a key twice", [{}, {}]],
  ["contains a file", [{ kind: "file" as const, url: "https://example.org/a.pdf" }]],
  [
    "has quiet hours in an unknown time zone",
    [{ quiet_hours: { from: "20:00", to: "07:00", time_zone: "WIB" } }],
  ],
])("a batch that %s is rejected as a whole", async (_, drafts) => {
  const { submitBatch } = await start({ acceptBatch: async () => expect.fail("it was taken") });
  const draft = {
    sender: "api:test",
    kind: "text",
    phone: "6281234567890",
    text: "x",
    idempotency_key: "k",
  } as const;
  await expect(submitBatch(drafts.map((more) => ({ ...draft, ...more })))).rejects.toMatchObject({
    status: 400,
  });
});

test("nothing is submitted with a token that the task does not know", async () => {
  token = "x".repeat(32);
  const { submit } = await start();
  await expect(
    submit({ sender: "api:test", kind: "text", phone: "6281234567890", text: "x" }),
  ).rejects.toMatchObject({
    status: 503,
    code: "session_unavailable",
  });
  expect(taken).toEqual([]);
});

test("the state of a message is returned, or undefined for an unknown id", async () => {
  const state = { id: "3EB0", status: "READ", accepted_at: accepted.accepted_at } as const;
  const { findMessage } = await start({
    findState: async (id, sender) =>
      id === "3EB0" && sender === "api:Bürger & co" ? { ...state, changed_at: state.accepted_at } : undefined,
  });
  const find = (id: string) => findMessage(id, "api:Bürger & co");
  expect(await find("3EB0")).toEqual({ ...state, changed_at: state.accepted_at });
  expect(await find("3EB1")).toBeUndefined();
  expect(await find("x".repeat(64))).toBeUndefined();
  expect(await findMessage("3EB0", "api:another")).toBeUndefined();
});

test("a list is asked for with its filters, and a page is returned", async () => {
  const asked: unknown[] = [];
  const times = { accepted_at: accepted.accepted_at, changed_at: accepted.accepted_at };
  const page = { messages: [{ id: "3EB0", status: "READ", ...times } as const], next: "n-_" };
  const { listMessages } = await start({
    listMessages: async (query) => {
      asked.push(query);
      return page;
    },
  });
  const filter = { state: "READ", since: "2025-06-01T08:00:00.123Z", after: "a-_" } as const;
  expect(await listMessages({ sender: "api:a b&c=ü", ...filter, limit: 7 })).toEqual(page);
  await listMessages({ sender: "api:a", state: undefined, limit: 1 });
  expect(asked).toEqual([
    { sender: "api:a b&c=ü", ...filter, limit: 7 },
    { sender: "api:a", limit: 1 },
  ]);
});

test.each([
  { limit: 0 },
  { limit: 101 },
  { state: "WAITING" as "READ" },
  { since: "2025-06-01" },
  { since: "2025-06-01T08:00:00+07:00" },
])("the messenger refuses a list with %j", async (wrong) => {
  const { listMessages } = await start({ listMessages: async () => expect.fail("it was asked") });
  await expect(listMessages({ sender: "api:a", limit: 1, ...wrong })).rejects.toMatchObject({ status: 400 });
});

test("a message is cancelled for its sender; an unknown one is undefined, one that does not wait a 409", async () => {
  const asked: unknown[] = [];
  const times = { accepted_at: accepted.accepted_at, changed_at: accepted.accepted_at };
  const state = { id: "3EB0", status: "CANCELLED", ...times } as const;
  const { cancelMessage } = await start({
    cancel: async (...given) => {
      asked.push(given);
      if (given[0] === "3EB2") throw new ApiError(notWaiting);
      return given[0] === "3EB0" ? state : undefined;
    },
  });
  expect(await cancelMessage("3EB0", "api:ü&sender=x")).toEqual(state);
  expect(await cancelMessage("3EB1", "api:b")).toBeUndefined();
  await expect(cancelMessage("3EB2", "api:b")).rejects.toMatchObject({ status: 409, code: "not_waiting" });
  expect(asked).toEqual([
    ["3EB0", "api:ü&sender=x"],
    ["3EB1", "api:b"],
    ["3EB2", "api:b"],
  ]);
});
