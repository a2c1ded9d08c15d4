import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import postgres from "postgres";
import { expect, inject, onTestFinished, test } from "vitest";
import { types } from "#lib/db/credentials.ts";

/** A way to the server that counts how often the client sends after the server has answered. */
const openCounted = async ({ hostname, port }: URL) => {
  let trips = 0;
  let isAnswered = true;
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.on("data", () => {
      if (isAnswered) trips += 1;
      isAnswered = false;
    });
    far.on("data", () => {
      isAnswered = true;
    });
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on("error", () => {});
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void proxy.close());
  return { port: (proxy.address() as AddressInfo).port, countTrips: () => trips };
};

test("a statement with parameters is one round trip, as one without", async () => {
  const url = new URL(inject("city").adminUrl);
  const { port, countTrips } = await openCounted(url);
  url.port = String(port);
  const sql = postgres(url.href, { max: 1, prepare: false, fetch_types: false, types });
  onTestFinished(() => sql.end());
  await sql`select 1`;
  const before = countTrips();
  const [row] = await sql`
    select ${"text"}::text as text, ${7}::int + 0 as number, ${null}::text as nothing, ${Buffer.from([0, 255])}::bytea as bytes`;
  expect(row).toEqual({ text: "text", number: 7, nothing: null, bytes: Buffer.from([0, 255]) });
  expect(countTrips() - before).toBe(1);
});
