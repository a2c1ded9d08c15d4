import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { withCityDatabase } from "../steps/city/own-city.ts";
import { basicHeader, formOf } from "../steps/messaging.ts";

const city = useDeliveringCity();
const phone = "6281399887755";

const ask = (path: string, init: RequestInit = {}) =>
  fetch(`${city.own.city.messagingBaseUrl}${path}`, {
    ...init,
    headers: { authorization: basicHeader(city.own.city.basic), ...init.headers },
  });

/** The lines of a request, without those of the gateway, which other tests read. */
const linesOf = (requestId: string | null) =>
  city.own.logged().filter(({ request_id }) => request_id === requestId);

const arrive = async (requestId: string | null, count: number) => {
  await expect.poll(() => linesOf(requestId).length).toBeGreaterThanOrEqual(count);
  return linesOf(requestId);
};

test("the id of an answer finds the lines of gateway, function and messenger, and the stored message", async () => {
  const body = JSON.stringify({ phone, message: "Antrean Anda: A-12" });
  const answer = await ask("/send/message", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const requestId = answer.headers.get("x-request-id");
  const { data } = (await answer.json()) as { data: { id: string } };
  const lines = await arrive(requestId, 2);
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ fn: "messaging/send-message", status: 200, http_ms: expect.any(Number) }),
      expect.objectContaining({ route: "POST /messages", status: 201, message_id: data.id }),
    ]),
  );
  expect(lines).toHaveLength(2);
  expect(city.own.lines.filter((line) => line.includes(String(requestId))).length).toBe(3);
  const rows = await withCityDatabase(city.own)(
    (sql) => sql`select 1 from messaging.message where id = ${data.id}`,
  );
  expect(rows).toHaveLength(1);
});

test("so does that of an upload, and of a question for a message's state", async () => {
  const answer = await ask("/send/file", {
    method: "POST",
    body: formOf({ phone, file: Buffer.from("A-12") }),
  });
  const { results } = (await answer.json()) as { results: { message_id: string } };
  expect(await arrive(answer.headers.get("x-request-id"), 2)).toContainEqual(
    expect.objectContaining({ route: "POST /messages", message_id: results.message_id }),
  );
  const state = await ask(`/messages/${results.message_id}`);
  expect(await arrive(state.headers.get("x-request-id"), 2)).toContainEqual(
    expect.objectContaining({ route: "GET /messages/:id", status: 200, message_id: results.message_id }),
  );
  const unknown = await ask("/messages/planted-name");
  const lines = await arrive(unknown.headers.get("x-request-id"), 2);
  expect(lines).toContainEqual(expect.objectContaining({ route: "GET /messages/:id", status: 404 }));
  expect(JSON.stringify(lines)).not.toContain("planted");
});

test("the line of a function says how long it waited for the database and for other systems", async () => {
  const idOf = async (body: unknown) =>
    (await city.own.ask("/v1/penduduk", body)).headers.get("x-request-id");
  const [read] = await arrive(await idOf({}), 1);
  expect(read).toMatchObject({ fn: "resident/list", status: 200, database_ms: expect.any(Number) });
  const [rejected] = await arrive(await idOf({ page_size: 0 }), 1);
  expect(rejected).toMatchObject({ fn: "resident/list", status: 400 });
  expect(rejected).not.toHaveProperty("database_ms");
});

test("a caller cannot choose the id: neither the header of a request nor that of a trace counts", async () => {
  const chosen = randomUUID();
  const answer = await ask("/messages/3EB0", {
    headers: {
      "x-request-id": chosen,
      "x-amzn-trace-id": `Root=1-5759e988-bd862e3fe1be46a994272793;Name=${chosen}`,
    },
  });
  await arrive(answer.headers.get("x-request-id"), 2);
  expect(answer.headers.get("x-request-id")).not.toBe(chosen);
  expect(city.own.lines.filter((line) => line.includes(chosen))).toEqual([]);
});
