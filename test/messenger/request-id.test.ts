import { expect, test } from "vitest";
import { captureLog } from "../console/console-browser.ts";
import { buildEmptyServer } from "../steps/messenger-server.ts";

const own = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

test.each([
  ["3b6a2fcb-0699-4783-a84b-839426f34251", /^3b6a2fcb-0699-4783-a84b-839426f34251$/],
  ["Siti Aminah", own],
  ["x".repeat(65), own],
  [undefined, own],
])(
  "the messenger logs the id of a request, and its own one instead of any other text: %s",
  async (id, logged) => {
    const server = buildEmptyServer({ findTokens: async () => ["token"] });
    const lines = captureLog();
    const headers = { authorization: "Bearer token", ...(id && { "x-request-id": id }) };
    await server.inject({ method: "GET", url: "/messages/planted?sender=api:test", headers });
    // a line follows its answer
    await expect.poll(() => lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? "{}")).toEqual({
      ...{ time: expect.any(String), level: "info", message: "request", ms: expect.any(Number) },
      ...{ request_id: expect.stringMatching(logged), route: "GET /messages/:id", status: 404 },
      sender: "api:test",
    });
  },
);
