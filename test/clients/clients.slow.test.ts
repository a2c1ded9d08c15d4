import { beforeAll, describe, expect, inject, test } from "vitest";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import { findErrors } from "../steps/grammar.ts";
import type { Client, Open } from "./client.ts";
import { apis, generate, generateIn, generators } from "./generators.ts";

const { baseUrl, messagingBaseUrl, apiKey, basic, employee } = inject("city");
const { username, password } = employee;

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const generateAndOpen = async (generator: string, documents: readonly string[]): Promise<Client> => {
  const adapter = await generate(generator, documents);
  const { open } = (await import(adapter)) as { open: Open };
  return open({ baseUrl, messagingBaseUrl, apiKey, basic });
};

const read = async (api: string) => (await fetch(`${baseUrl}/openapi.json?api=${api}`)).text();

const clients = new Map<string, Promise<Client>>();
beforeAll(async () => {
  const documents = await Promise.all(apis.map(read));
  for (const generator of generators) clients.set(generator, generateAndOpen(generator, documents));
  await Promise.allSettled(clients.values());
}, 300_000); // 7 s on an idle machine; ten processes on a busy one

describe.each(generators)("the client that %s generates compiles and", (generator) => {
  const open = () => clients.get(generator) ?? expect.fail("not generated");

  test("lists residents", async () => {
    const { data, total, page } = await (await open()).listResidents();
    expect([data.length, page]).toEqual([3, 1]);
    expect(total).toBeGreaterThan(3);
  });

  test("searches residents by name", async () => {
    const { data, total } = await (await open()).searchResidents("Micro Seconds");
    expect(data.map(({ nama, created_at }) => [nama, created_at])).toEqual([
      ["Micro Seconds", "2025-07-01T03:04:05.000007"],
    ]);
    expect(total).toBe(1);
  });

  test("logs in, refreshes the tokens and finds employees by name", async () => {
    const client = await open();
    const first = await client.login(username, password);
    const { token, expires_in } = await client.refresh(first.refresh_token);
    expect(expires_in).toBe(900);
    const found = await client.findEmployees(token, "siti");
    expect(found.length).toBeGreaterThan(0);
    for (const { peg_nama } of found) expect(peg_nama).toContain("SITI");
  });

  test("sends a text, an image and a file to the messaging API and reads their states", async () => {
    const client = await open();
    const ids = [
      await client.sendText(demoPhone, `*${generator}*`),
      await client.sendImage(demoPhone, new Blob([png], { type: "image/png" })),
      await client.sendFile(demoPhone, new Blob(["a letter"], { type: "text/plain" })),
    ];
    expect(new Set(ids).size).toBe(3);
    for (const id of ids)
      expect(await client.readState(id)).toMatch(/^(PENDING|SENDING|SENT|DELIVERED|READ)$/);
  });
});

// without a run: a machine with only Node has no interpreter of theirs
test.each(["python", "php"] as const)(
  "the clients in %s follow the grammar and have named types, plain parameters and their own host",
  async (language) => {
    const integration = await generateIn(language, await read("integration"));
    expect(integration).toContain(baseUrl);
    expect(integration).not.toContain(messagingBaseUrl);
    expect(integration).toMatch(/class Resident\b/);
    expect(integration).toMatch(/nama: Optional\[str\] = None|\?string \$nama = null/);
    const messaging = await generateIn(language, await read("messaging"));
    expect(messaging).toContain(messagingBaseUrl);
    expect(messaging).toMatch(/class Message\b/);
    for (const client of [integration, messaging]) expect(findErrors(language, client)).toEqual([]);
  },
);
