import type { LookupAddress } from "node:dns";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, inject, test, vi } from "vitest";
import type { guardConnector } from "#lib/channels/address-guard.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";
import { serve } from "../steps/http-server.ts";
import { startSecrets } from "../steps/secrets.ts";

const url = "https://backend.city.example/messages";
const publicAddress = "93.184.215.14";

/** The network of the command: names, and a server of the test in place of every allowed address. */
const network = vi.hoisted(() => ({
  names: {} as Record<string, readonly string[]>,
  dialled: [] as string[],
  port: 0,
}));

vi.mock("#lib/channels/address-guard.ts", async (original) => {
  const actual = await original<typeof import("#lib/channels/address-guard.ts")>();
  const resolve = async (name: string): Promise<LookupAddress[]> =>
    (network.names[name] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const dial: NonNullable<Parameters<typeof guardConnector>[0]>["dial"] = (addresses) => (_options, done) => {
    network.dialled.push(...addresses.map(({ address }) => address));
    const socket = connect(network.port, "127.0.0.1", () => done(null, socket));
    socket.once("error", (error) => done(error, null));
  };
  return {
    ...actual,
    resolveHost: (name: string) => actual.resolveHost(name, 1_000, resolve),
    guardConnector: (options: object) => actual.guardConnector({ ...options, resolve, dial }),
  };
});

/** The secrets of `npm run dev`, when a test uses it. */
const local = vi.hoisted(() => ({ secrets: {} as Record<string, unknown> }));
vi.mock("../../infra/local/secrets/store.ts", async (original) => ({
  ...(await original<object>()),
  readLocalSecret: (name: string) => local.secrets[name],
}));
vi.mock("../../infra/local/dev-file.ts", async (original) => ({
  ...(await original<object>()),
  findDevFile: () => ({}),
}));

const key = JSON.stringify(secretTable["messenger-key"].mint());
let settings: Record<string, string>;

beforeEach(async () => {
  Object.assign(network, { names: { "backend.city.example": [publicAddress] }, dialled: [], port: 1 });
  const { store, url: endpoint } = await startSecrets({});
  store.put("municipal/test/messenger-key", key);
  store.put(
    "municipal/test/messaging-basic",
    JSON.stringify({ credentials: [{ username: "of-the-secret", password: "x" }] }),
  );
  settings = {
    DATABASE_URL: inject("city").senderAdminUrl,
    ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
  };
});

/** Lets the commands use the city of the tests as `npm run dev`. */
const useDev = async () => {
  const asked = await fetch(inject("city").secretsUrl, {
    ...{ method: "POST", headers: { "x-amz-target": "secretsmanager.GetSecretValue" } },
    body: JSON.stringify({ SecretId: "municipal/local/messenger-key" }),
  });
  const { SecretString } = (await asked.json()) as { SecretString: string };
  const { hostname, port, pathname, username, password } = new URL(inject("city").senderAdminUrl);
  const database = { host: hostname, port: Number(port), dbname: pathname.slice(1), username, password };
  local.secrets = {
    "database/sender-admin": database,
    "messenger-key": JSON.parse(SecretString),
    "messaging-basic": { credentials: [] },
  };
  vi.unstubAllEnvs();
  settings = {};
};

/** A backend that answers calls with a status. */
const startBackend = async (statusOf: (path: string) => number) => {
  const calls: { path: string; headers: Record<string, string>; body: string }[] = [];
  const own = await serve(async (request, response) => {
    const path = request.url ?? "";
    calls.push({ path, headers: request.headers as Record<string, string>, body: await text(request) });
    response.writeHead(statusOf(path), { location: "https://other.example/", connection: "close" }).end();
  });
  network.port = Number(new URL(own).port);
  return { calls, port: network.port };
};

const callback = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/callback.ts"),
    settings,
    ...[...args, ...(settings.DATABASE_URL ? ["--stage", "test"] : [])],
  );

const addSender = async () => {
  const name = `office-${Math.random().toString(36).slice(2, 8)}`;
  await connectFor("adminUrl")`insert into messaging.sender (name) values (${name})`;
  return name;
};
const secretIn = (out: string) => /^whsec_\S+$/m.exec(out)?.[0] ?? "";
const storedOf = (sender: string) =>
  connectFor("adminUrl")<{ secret: Buffer }[]>`
    select secret from messaging.callback where sender = ${`api:${sender}`}`;

test("an added address has a secret, which is shown once and stored encrypted", async () => {
  const sender = await addSender();
  const { out } = await callback("add", sender, url);
  const secret = Buffer.from(secretIn(out).slice("whsec_".length), "base64");
  expect(secret).toHaveLength(32);
  const [row] = await storedOf(sender);
  expect(row?.secret.includes(secret)).toBe(false);
  const { out: listed } = await callback("list", sender);
  expect(listed).toMatch(/^https:\/\/backend\.city\.example\/messages +0 +0 +0 +- /m);
  expect(listed).not.toContain("whsec_");
});

test("an address is added once, and gets a new secret by a rotation", async () => {
  const sender = await addSender();
  const first = secretIn((await callback("add", sender, url)).out);
  expect(await callback("add", sender, url)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`npm run city -- callback rotate ${sender} ${url}`),
  });
  const second = secretIn((await callback("rotate", sender, url)).out);
  expect(second).not.toBe(first);
  expect(JSON.parse((await callback("list", sender, "--json")).out)).toMatchObject({
    callbacks: [{ url, waiting: 0, previousUntil: expect.any(String) }],
    undelivered: [],
  });
});

test("only an address that was added can be removed", async () => {
  const sender = await addSender();
  await callback("add", sender, url);
  expect((await callback("remove", sender, url)).out).toContain(`removed ${url}`);
  for (const verb of ["remove", "rotate"])
    expect(await callback(verb, sender, url)).toMatchObject({
      status: 1,
      errors: expect.stringContaining(`has no callback to ${url}`),
    });
});

test("without undelivered changes there is nothing to replay", async () => {
  expect((await callback("replay", await addSender())).out).toContain(
    "No undelivered changes. Nothing to do.",
  );
});

test("an unknown sender gets no address, and a user of the secret is known", async () => {
  expect(await callback("add", "no-office", url)).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/^There is no sender no-office\. See: npm run city -- sender list/),
  });
  expect(await storedOf("no-office")).toHaveLength(0);
  expect((await callback("add", "of-the-secret", url)).status).toBe(0);
  await callback("remove", "of-the-secret", url);
});

test.each([
  ...["127.0.0.1", "10.1.2.3", "192.168.1.1", "169.254.169.254", "0.0.0.0", "2130706433", "127.0.0.1."],
  ...["[::1]", "[::ffff:10.0.0.5]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "[fe80::1]"],
  ...["private.city.example", "private.city.example.", "both.city.example", "mapped.city.example"],
])("an address at %s is refused, and not called", async (host) => {
  await startBackend(() => 204);
  Object.assign(network.names, {
    ...{ "private.city.example": ["10.0.0.5"], "private.city.example.": ["10.0.0.5"] },
    ...{ "both.city.example": [publicAddress, "fd00::5"], "mapped.city.example": ["::ffff:127.0.0.1"] },
  });
  const sender = await addSender();
  expect(await callback("add", sender, `https://${host}/messages`)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("which is not public, so the messenger does not call it"),
  });
  expect([network.dialled, await storedOf(sender)]).toEqual([[], []]);
});

test("an address whose host is not found from here is added with a warning", async () => {
  const sender = await addSender();
  const { status, out } = await callback("add", sender, "https://new.city.example/messages");
  expect([status, secretIn(out)]).toEqual([0, expect.stringMatching(/^whsec_/)]);
  expect(out).toContain("new.city.example was not found in the DNS from here");
  expect(network.dialled).toEqual([]);
});

test("an address that redirects is added with a warning that nothing will be delivered", async () => {
  const { calls } = await startBackend(() => 302);
  const { status, out } = await callback("add", await addSender(), url);
  expect([status, secretIn(out)]).toEqual([0, expect.stringMatching(/^whsec_/)]);
  expect(out).toContain(`Warning: ${url} answered 302, and redirects are not followed`);
  expect(out).toContain("Google Apps Script always answers 302");
  expect([calls.length, network.dialled]).toEqual([1, [publicAddress]]);
});

test("a test sends each address of a sender one signed event, and prints status and time", async () => {
  const { calls } = await startBackend((path) => (path === "/messages" ? 204 : 302));
  const sender = await addSender();
  const secret = secretIn((await callback("add", sender, url)).out);
  expect(await callback("test", sender)).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^https:\/\/backend\.city\.example\/messages: 204 after \d+ ms$/m),
  });
  const { headers, body } = calls.at(-1) ?? expect.fail("nothing was sent");
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "test", data: { id: "test" } });
  await callback("add", sender, `${url}/script`);
  const { status, out } = await callback("test", sender, "--json");
  expect([status, JSON.parse(out).trials.map((trial: { status: number }) => trial.status)]).toEqual([
    3,
    [204, 302],
  ]);
});

test("a test says that there was no answer, or that the sender has no address", async () => {
  const sender = await addSender();
  expect(await callback("test", sender)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`${sender} has no callbacks`),
  });
  await callback("add", sender, url);
  expect(await callback("test", sender)).toMatchObject({
    status: 3,
    out: expect.stringMatching(/: no answer \(ECONNREFUSED\) after \d+ ms$/m),
  });
});

test("the list shows a redirect and a disabled address, which is enabled by adding it again", async () => {
  const sender = await addSender();
  const first = secretIn((await callback("add", sender, url)).out);
  const admin = connectFor("adminUrl");
  // not due, so that the city's messenger leaves it alone
  await admin`
    insert into messaging.callback_event (callback_id, message_id, state, accepted_at, at, attempts, due_at, last_status)
    select id, 'm', 'SENT', now(), now(), 1, now() + interval '1 hour', 302
    from messaging.callback where sender = ${`api:${sender}`}`;
  const { out: redirected } = await callback("list", sender);
  expect(redirected).toMatch(/ 302 /);
  expect(redirected).toContain(`${url} answered 302, and redirects are not followed`);
  await admin`update messaging.callback set disabled_at = now() where sender = ${`api:${sender}`}`;
  const { out } = await callback("list", sender);
  expect(out).toMatch(/ 410, disabled /);
  expect(out).toContain(`npm run city -- callback add ${sender} ${url}`);
  const second = secretIn((await callback("add", sender, url)).out);
  expect([second === "", second === first]).toEqual([false, false]);
  expect((await callback("list", sender)).out).not.toContain("disabled");
});

test("in npm run dev an address on this machine may be added, its messenger calls it, and no other private one may", async () => {
  await useDev();
  const { calls, port } = await startBackend(() => 204);
  network.names = { localhost: ["127.0.0.1", "::1"], "private.city.example": ["10.0.0.5"] };
  const sender = await addSender();
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    const { out } = await callback("add", sender, `http://${host}:${port}/messages`);
    expect(out).toMatch(/A test event: 204 after \d+ ms/);
  }
  expect(calls).toHaveLength(3);
  expect(await callback("add", sender, "https://private.city.example/")).toMatchObject({ status: 1 });
  expect(await callback("add", sender, "http://backend.city.example/")).toMatchObject({
    status: 2,
    errors: expect.stringContaining("or on this machine, such as http://localhost:4000/messages"),
  });
  expect(calls).toHaveLength(3);
  await connectFor("adminUrl")`
    insert into messaging.callback_event (callback_id, message_id, state, accepted_at, at)
    select id, 'm', 'SENT', now(), now() from messaging.callback where sender = ${`api:${sender}`}`;
  // all but that of IPv6, where the backend does not listen
  await expect
    .poll(() => calls.filter(({ body }) => JSON.parse(body).type === "message.state").length, {
      timeout: 10_000,
    })
    .toBe(2);
});
