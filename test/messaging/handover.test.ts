import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Fault } from "#lib/http/fault.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import { buildServer, type ServerOptions } from "#lib/session/server.ts";
import { startSecrets } from "../steps/secrets.ts";

/** Both ends of `lib/messaging/submission.ts`: the client of the endpoints and the server of the task. */
const accepted = { id: "3EB0", status: "PENDING", accepted_at: "2025-06-01T08:00:00.123Z" } as const;
const taken: { submission: Submission; bytes: Buffer | undefined }[] = [];
let token: string;

const start = async (options: Partial<ServerOptions> = {}) => {
  const server = buildServer({
    findTokens: async () => ["another".repeat(5), "t".repeat(32)],
    accept: async (submission, inline) => {
      taken.push({ submission, bytes: inline && Buffer.from(inline) });
      return accepted;
    },
    acceptBatch: async (submissions) => submissions.map((_, index) => `3EB${index}`),
    findState: async () => undefined,
    findConnection: () => ({ kind: "open" }),
    checkHealth: async () => ({ database: true, leader: true, platform: "open", paused: false }),
    renderMetrics: async () => ({ contentType: "text/plain", text: "" }),
    ...options,
  });
  vi.stubEnv("SESSION_URL", await server.listen({ host: "127.0.0.1", port: 0 }));
  onTestFinished(() => server.close());
  const { store } = await startSecrets({ SESSION_TOKEN_SECRET_ID: "session" });
  store.put("session", JSON.stringify({ token }));
  return import("#lib/messaging/session-client.ts");
};

beforeEach(() => {
  taken.length = 0;
  token = "t".repeat(32);
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
});

test("a text arrives with its options and the defaults for the others", async () => {
  const { submit } = await start();
  const text = { kind: "text", phone: "6281234567890", text: "*é* 👍", idempotency_key: "k" } as const;
  expect(await submit(text)).toEqual(accepted);
  expect(taken).toEqual([
    { submission: expect.objectContaining({ ...text, view_once: false }), bytes: undefined },
  ]);
});

test("the largest upload arrives byte for byte, with the longest description", async () => {
  const { submit } = await start();
  const bytes = Buffer.alloc(4 * 1024 * 1024, "0123456789");
  const described = {
    kind: "file",
    ...{ phone: "6281234567890", text: "あ".repeat(1_024), idempotency_key: "k".repeat(255) },
    ...{ file_name: "あ".repeat(200), content_type: "x".repeat(161), reply_to: "あ".repeat(128) },
  } as const;
  expect(await submit(described, bytes)).toEqual(accepted);
  expect(taken[0]?.submission).toMatchObject(described);
  expect(taken[0]?.bytes?.equals(bytes)).toBe(true);
});

test("a refusal arrives with its status, words and time", async () => {
  const { submit } = await start({
    accept: async () => {
      throw new Fault(409, "IDEMPOTENCY_KEY_IN_USE", "Under way", { retryAfterSeconds: 1 });
    },
  });
  await expect(submit({ kind: "text", phone: "6281234567890", text: "x" })).rejects.toMatchObject({
    ...{ status: 409, code: "IDEMPOTENCY_KEY_IN_USE", message: "Under way", retryAfterSeconds: 1 },
  });
});

test("a token that the task does not know hands nothing over", async () => {
  token = "x".repeat(32);
  const { submit } = await start();
  await expect(submit({ kind: "text", phone: "6281234567890", text: "x" })).rejects.toMatchObject({
    ...{ status: 503, code: "session_unavailable" },
  });
  expect(taken).toEqual([]);
});

test("a message's state is asked for and told, or unknown", async () => {
  const state = { id: "3EB0", status: "READ", accepted_at: accepted.accepted_at } as const;
  const { findMessage } = await start({
    findState: async (id) => (id === "3EB0" ? { ...state, changed_at: state.accepted_at } : undefined),
  });
  expect(await findMessage("3EB0")).toEqual({ ...state, changed_at: state.accepted_at });
  expect(await findMessage("3EB1")).toBeUndefined();
  expect(await findMessage("x".repeat(64))).toBeUndefined();
});
