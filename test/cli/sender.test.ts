import { expect, inject, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";
import { messagingClient } from "../steps/messaging.ts";

const sender = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/sender.ts"),
    { DATABASE_URL: inject("city").senderAdminUrl },
    ...args,
  );

const passwordIn = (out: string) => /^mis_\S+$/m.exec(out)?.[0] ?? "";
const newName = () => `office-${Math.random().toString(36).slice(2, 8)}`;

/** Whether the credentials are accepted: 404 is the answer for an unknown message. */
const asks = async (username: string, password: string) =>
  (await messagingClient(inject("city").messagingBaseUrl, { username, password }).read("3EB0")).status;

test("an added sender's password works, is shown once and stored as a digest", async () => {
  const name = newName();
  const { out } = await sender("add", name);
  const password = passwordIn(out);
  expect(await asks(name, password)).toBe(404);
  const [row] = await connectFor(
    "adminUrl",
  )`select digest from messaging.sender_credential where sender = ${name}`;
  expect(row?.digest).toEqual(digestToken(password));
  const list = (await sender("list")).out;
  expect(list).toMatch(new RegExp(`^${name} +cred_\\w+ +active`, "m"));
  expect(list).toMatch(new RegExp(`^${name} +city +all +- +- +0 +- +0$`, "m"));
  expect(list).not.toContain(password);
  expect(await sender("add", name)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`npm run city -- sender rotate ${name}`),
  });
});

test("after a rotation both passwords work until the end of the overlap, and the new one has the old expiry", async () => {
  const name = newName();
  const old = passwordIn((await sender("add", name, "--expires", "2099-01-01")).out);
  const { out } = await sender("rotate", name, "--overlap", "1");
  expect(out).toContain("expires 2099-01-01 23:59 WIB");
  expect([await asks(name, old), await asks(name, passwordIn(out))]).toEqual([404, 404]);
  const [left] = await connectFor("adminUrl")<{ hours: number }[]>`
    select round(extract(epoch from retires_at - now()) / 3600)::int as hours from messaging.sender_credential
    where digest = ${digestToken(old)}`;
  expect(left?.hours).toBe(1);
  const newest = passwordIn((await sender("rotate", name, "--overlap", "0")).out);
  expect(await asks(name, newest)).toBe(404);
  const states = (await sender("list")).out.match(new RegExp(`^${name} +cred_\\w+ +\\w+`, "gm"));
  expect(states?.map((line) => line.split(/ +/)[2])).toEqual(["expired", "expired", "active"]);
});

test("one credential or all of a sender can be revoked", async () => {
  const name = newName();
  const [first, second] = [(await sender("add", name)).out, (await sender("rotate", name)).out];
  const id = /cred_\w+/.exec(first)?.[0] ?? "";
  expect((await sender("revoke", id)).out).toContain(`revoked ${id}`);
  expect([await asks(name, passwordIn(first)), await asks(name, passwordIn(second))]).toEqual([401, 404]);
  expect(await sender("revoke", id)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`No active credential with ID or sender "${id}"`),
  });
  expect((await sender("revoke", name)).status).toBe(0);
  expect(await sender("rotate", name)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`npm run city -- sender add ${name}`),
  });
  expect((await sender("add", name)).status).toBe(0);
});

test("limits are set one by one and removed again", async () => {
  const name = newName();
  await sender("add", name);
  const limit = async (...args: string[]) => JSON.parse((await sender("limit", name, ...args, "--json")).out);
  const none = {
    sender: name,
    pool: "city",
    countries: [] as string[],
    perDay: null,
    bytesPerDay: null,
    messagesToday: 0,
    bytesToday: 0,
  };
  const classes = ["reminder", "bulk"];
  expect(await limit("--classes", "reminder, bulk")).toEqual({ ...none, classes });
  expect(await limit("--per-day", "5")).toEqual({ ...none, classes, perDay: 5 });
  expect(await limit("--bytes-per-day", "5000000000")).toMatchObject({
    perDay: 5,
    bytesPerDay: 5_000_000_000,
  });
  expect((await sender("list")).out).toMatch(
    new RegExp(`^${name} +city +reminder,bulk +- +5 +0 +5000000000 +0$`, "m"),
  );
  expect(await limit("--per-day", "none", "--bytes-per-day", "none")).toEqual({ ...none, classes });
  expect((await limit("--classes", "all")).classes).toHaveLength(4);
  expect((await limit("--countries", "65, 81")).countries).toEqual(["65", "81"]);
  expect((await limit("--countries", "none")).countries).toEqual([]);
});

test("a sender's pool is one that has accounts", async () => {
  const name = newName();
  await sender("add", name);
  expect(await sender("limit", name, "--pool", "nowhere")).toMatchObject({
    status: 1,
    errors: expect.stringContaining('No account has the pool "nowhere". See: npm run city -- account list'),
  });
});

test("a user of the secret can be limited, and the reply says that it is one", async () => {
  const name = `${newName()} Ümlaut`;
  const { status, out } = await sender("limit", name, "--per-day", "7");
  expect([status, out]).toEqual([0, expect.stringContaining("with this name in the secret messaging-basic")]);
  const { senders } = JSON.parse((await sender("list", "--json")).out);
  expect(senders).toContainEqual(expect.objectContaining({ sender: name, perDay: 7 }));
});

test("list shows what was accepted today, also of a user of the secret without limits", async () => {
  const name = newName();
  await connectFor("adminUrl")`
    insert into messaging.sender_day
    select 'api:' || ${name}::text, messaging.today() - day, slot, 10, 100
    from generate_series(0, 1) day, generate_series(1, 2) slot`;
  expect((await sender("list")).out).toMatch(new RegExp(`^${name} +city +all +- +- +20 +- +200$`, "m"));
});

test("a password is JSON with --json, and expires at the end of its day in the city", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2090-06-01T16:59:58Z") });
  const name = newName();
  const { id, password, ...rest } = JSON.parse(
    (await sender("add", name, "--expires", "2090-06-01", "--json")).out,
  );
  expect(rest).toEqual({ sender: name, expiresAt: "2090-06-01T16:59:59.000Z" });
  vi.useRealTimers();
  expect(await asks(name, password)).toBe(404);
  const { credentials } = JSON.parse((await sender("list", "--json")).out);
  expect(credentials).toContainEqual(expect.objectContaining({ sender: name, id, state: "active" }));
});
