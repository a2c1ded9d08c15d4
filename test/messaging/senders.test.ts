import { beforeAll, expect, test } from "vitest";
import { apiKeyAuthorizer, basicAuthorizer } from "#lib/routes/authorizer.ts";
import { senderDirectory } from "#lib/sender/sender-admin.ts";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { formOf, messagingClient } from "../steps/messaging.ts";

const city = useDeliveringCity();
const phone = "6281399887755";

/** Runs work as `npm run city -- sender` does. */
const manage = async <T>(work: (directory: ReturnType<typeof senderDirectory>) => Promise<T>): Promise<T> => {
  const sql = city.own.city.database.connectAs("sender-admin");
  try {
    return await work(senderDirectory(sql));
  } finally {
    await sql.end();
  }
};

type Client = ReturnType<typeof messagingClient>;
const asSender = (username: string, password: string) =>
  messagingClient(city.own.city.messagingBaseUrl, { username, password });
const addSender = async (name: string): Promise<Client> =>
  asSender(name, (await manage((directory) => directory.add(name))).password);

let tax: Client;
let health: Client;
beforeAll(async () => {
  tax = await addSender("tax-office");
  health = await addSender("health-office");
});

const send = (client: Client, headers?: Record<string, string>) =>
  client.sendMessage({ phone, message: "Antrean A-12" }, headers);

test("a message is delivered for its sender, and is unknown to every other sender", async () => {
  const { json } = await send(tax);
  await city.arrived(phone, json.data.id);
  expect((await tax.read(json.data.id)).status).toBe(200);
  for (const other of [health, city.client])
    expect(await other.read(json.data.id)).toMatchObject({
      status: 404,
      json: { code: "MESSAGE_NOT_FOUND" },
    });
});

test("two senders use the same Idempotency-Key for two messages, and each repeats its own", async () => {
  const headers = { "idempotency-key": "same-key" };
  const ids = [];
  for (const client of [tax, health, city.client, tax, health, city.client])
    ids.push((await send(client, headers)).json.data.id);
  expect(new Set(ids).size).toBe(3);
  expect(ids.slice(3)).toEqual(ids.slice(0, 3));
});

test("the name of the sender stands with the message, in the log of the function and of the messenger", async () => {
  const { json, headers } = await send(tax);
  await expect
    .poll(() => city.own.logged().filter((line) => line.request_id === headers.get("x-request-id")))
    .toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ fn: "messaging/send-message", sender: "tax-office" }),
        expect.objectContaining({
          route: "POST /messages",
          sender: "api:tax-office",
          message_id: json.data.id,
        }),
      ]),
    );
  const sql = city.own.city.database.connectAs("messenger");
  const [row] = await sql`select sender from messaging.message where id = ${json.data.id}`;
  await sql.end();
  expect(row).toEqual({ sender: "api:tax-office" });
});

test("a class that the sender may not send is 403, for a user of the secret, too", async () => {
  const { username } = city.own.city.basic;
  for (const [name, client] of [
    [username, city.client],
    ["health-office", health],
  ] as const) {
    await manage((directory) => directory.limit(name, { classes: ["reminder"] }));
    await expect
      .poll(async () => send(client))
      .toMatchObject({
        status: 403,
        json: { status: false, code: "CLASS_NOT_ALLOWED", message: expect.stringContaining("reminder") },
      });
    expect((await send(tax)).status).toBe(200);
    await manage((directory) =>
      directory.limit(name, { classes: ["one-time-code", "transactional", "reminder", "bulk"] }),
    );
    await expect.poll(async () => (await send(client)).status).toBe(200);
  }
});

test("a used-up daily quota is 429 with the time until midnight, of messages and of bytes", async () => {
  const name = "small-office";
  const small = await addSender(name);
  await manage((directory) => directory.limit(name, { perDay: 1 }));
  expect((await send(small)).status).toBe(200);
  const { status, json, headers } = await send(small);
  expect([status, json.code]).toEqual([429, "DAILY_QUOTA_REACHED"]);
  const seconds = Number(headers.get("retry-after"));
  expect(seconds > 0 && seconds <= 86_400).toBe(true);
  await manage((directory) => directory.limit(name, { perDay: null, bytesPerDay: 1_000 }));
  const upload = (bytes: number) => small.sendForm("file", formOf({ phone, file: Buffer.alloc(bytes, "a") }));
  await expect.poll(async () => (await upload(500)).status).toBe(200);
  expect(await upload(500)).toMatchObject({ status: 429, json: { code: "DAILY_QUOTA_REACHED" } });
  const terms = (await manage((directory) => directory.listTerms())).find((one) => one.sender === name);
  expect(terms).toMatchObject({ messagesToday: 2, bytesToday: 12 + 500 });
});

test("while a credential is rotated both work; a revoked one stops", async () => {
  const name = "moving-office";
  const { id, password } = await manage((directory) => directory.add(name));
  const next = await manage((directory) => directory.rotate(name, 3_600_000));
  const after = asSender(name, next?.password ?? "");
  expect((await send(after)).status).toBe(200);
  // its first use is after it was revoked: the gateway caches active ones for 30 s
  await manage((directory) => directory.revoke(id));
  expect((await send(asSender(name, password))).status).toBe(401);
  expect((await send(after)).status).toBe(200);
  expect([basicAuthorizer.cacheSeconds, apiKeyAuthorizer.cacheSeconds]).toEqual([30, 30]);
});
