import { beforeEach, expect, inject, test } from "vitest";
import { secretTable } from "#lib/secrets/table/table.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";
import { startSecrets } from "../steps/secrets.ts";

const url = "https://backend.city.example/messages";
let settings: Record<string, string>;

beforeEach(async () => {
  const { store, url: endpoint } = await startSecrets({ MESSENGER_KEY_SECRET_ID: "key" });
  store.put("key", JSON.stringify(secretTable["messenger-key"].mint()));
  settings = {
    ...{ DATABASE_URL: inject("city").senderAdminUrl, MESSENGER_KEY_SECRET_ID: "key" },
    ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
  };
});

const callback = (...args: string[]) =>
  callCommand(() => import("../../infra/commands/callback.ts"), settings, ...args);

const newSender = () => `office-${Math.random().toString(36).slice(2, 8)}`;
const secretIn = (out: string) => /^whsec_\S+$/m.exec(out)?.[0] ?? "";

test("an added address has a secret, which is shown once and stored encrypted", async () => {
  const sender = newSender();
  const { out } = await callback("add", sender, url);
  const secret = Buffer.from(secretIn(out).slice("whsec_".length), "base64");
  expect(secret).toHaveLength(32);
  const [row] = await connectFor("adminUrl")<{ secret: Buffer }[]>`
    select secret from messaging.callback where sender = ${`api:${sender}`}`;
  expect(row?.secret.includes(secret)).toBe(false);
  const { out: listed } = await callback("list", sender);
  expect(listed).toMatch(/^https:\/\/backend\.city\.example\/messages +0 +0 +0 /m);
  expect(listed).not.toContain("whsec_");
});

test("an address is added once, and gets a new secret by a rotation", async () => {
  const sender = newSender();
  const first = secretIn((await callback("add", sender, url)).out);
  expect(await callback("add", sender, url)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`npm run callback -- rotate ${sender} ${url}`),
  });
  const second = secretIn((await callback("rotate", sender, url)).out);
  expect(second).not.toBe(first);
  expect(JSON.parse((await callback("list", sender, "--json")).out)).toMatchObject({
    callbacks: [{ url, waiting: 0, previousUntil: expect.any(String) }],
    dead: [],
  });
});

test("only an address that was added can be removed", async () => {
  const sender = newSender();
  await callback("add", sender, url);
  expect((await callback("remove", sender, url)).out).toContain(`removed ${url}`);
  for (const verb of ["remove", "rotate"])
    expect(await callback(verb, sender, url)).toMatchObject({
      status: 1,
      errors: expect.stringContaining(`has no callback to ${url}`),
    });
});

test("without dead letters there is nothing to replay", async () => {
  expect((await callback("replay", newSender())).out).toContain("No dead letters. Nothing to do.");
});
