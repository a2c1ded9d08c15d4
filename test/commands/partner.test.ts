import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";

const partner = (...args: string[]) =>
  callCommand(
    () => import("../../infra/commands/partner.ts"),
    { DATABASE_URL: inject("city").partnerAdminUrl },
    ...args,
  );

const keyIn = (out: string) => /^mia_\S+$/m.exec(out)?.[0] ?? "";
const reads = async (key: string) =>
  (await fetch(`${inject("city").baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey: key } })).status;
const newName = () => `agency-${Math.random().toString(36).slice(2, 8)}`;

test("an added key works, is shown once and stored as a digest", async () => {
  const name = newName();
  const { out } = await partner("add", name);
  const key = keyIn(out);
  expect(await reads(key)).toBe(200);
  const [row] = await connectFor("adminUrl")`select digest from partner.api_key where partner_id = ${name}`;
  expect(row?.digest).toEqual(digestToken(key));
  const list = (await partner("list")).out;
  expect(list).toMatch(new RegExp(`${name} +standard +key_\\w+ +resident:read +active`));
  expect(list).not.toContain(key);
});

test("a partner may have several keys, of which one can be revoked", async () => {
  const name = newName();
  const [first, second] = [(await partner("add", name)).out, (await partner("add", name)).out];
  const id = /key_\w+/.exec(first)?.[0] ?? "";
  expect((await partner("revoke", id)).out).toContain(`revoked ${id}`);
  expect([await reads(keyIn(first)), await reads(keyIn(second))]).toEqual([401, 200]);
  expect(await partner("revoke", id)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`No active key with ID or partner "${id}"`),
  });
});

test("another key leaves the partner's plan unchanged, unless a plan is given", async () => {
  const name = newName();
  const planOf = async () => new RegExp(`${name} +(\\w+)`).exec((await partner("list")).out)?.[1];
  await partner("add", name, "--plan", "trial");
  await partner("add", name);
  expect(await planOf()).toBe("trial");
  await partner("add", name, "--plan", "standard");
  expect(await planOf()).toBe("standard");
});

test("a rotated key stays valid for the overlap, and the new key has its scopes", async () => {
  const name = newName();
  const scopes = "resident:read,resident:number";
  const old = keyIn((await partner("add", name, "--scopes", scopes)).out);
  const next = keyIn((await partner("rotate", name, "--overlap", "1")).out);
  expect((await partner("list")).out.match(/resident:read resident:number +active/g)?.length).toBeGreaterThan(
    1,
  );
  const [left] = await connectFor("adminUrl")<{ hours: number }[]>`
    select round(extract(epoch from retires_at - now()) / 3600)::int as hours from partner.api_key
    where digest = ${digestToken(old)}`;
  expect(left?.hours).toBe(1);
  expect([await reads(old), await reads(next)]).toEqual([200, 200]);
  const newest = keyIn((await partner("rotate", name, "--overlap", "0")).out);
  expect(await reads(newest)).toBe(200);
  const states = (await partner("list")).out.split("\n").filter((line) => line.startsWith(name));
  expect(states.map((line) => /active|expired/.exec(line)?.[0])).toEqual(["expired", "expired", "active"]);
});

test("a key that replaces a leaked one gets the partner's terms, not the end of an overlap", async () => {
  const name = newName();
  await partner("add", name);
  const leaked = /key_\w+/.exec((await partner("rotate", name, "--overlap", "1")).out)?.[0] ?? "";
  await partner("revoke", leaked);
  expect((await partner("rotate", name)).out).toContain("does not expire");
});

test("a key is valid until the end of its expiry day in UTC", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-06-01T23:59:58Z") });
  onTestFinished(() => void vi.useRealTimers());
  const name = newName();
  const { out } = await partner("add", name, "--expires", "2030-06-01");
  expect(out).toContain("expires 2030-06-01 23:59");
  const [row] = await connectFor("adminUrl")<{ end: Date }[]>`
    select expires_at as end from partner.api_key where partner_id = ${name}`;
  expect(row?.end.toISOString()).toBe("2030-06-01T23:59:59.000Z");
  expect((await partner("add", name, "--expires", "2030-05-31")).errors).toContain("must be a future date");
});

test.each<[string[], RegExp]>([
  [["add"], /PARTNER must be 1 to 40/],
  [["add", "Dinas Kesehatan"], /PARTNER must be/],
  [["add", "x", "--scopes", "all"], /Unknown scope: all\. Use resident:read, resident:number/],
  [["add", "x", "--plan", "gold"], /Unknown plan: gold\. Use standard, trial, portal/],
  [["add", "x", "--expires", "2020-01-01"], /a future date/],
  [["add", "x", "--expires", "2030-02-31"], /a future date/],
  [["rotate", "nobody"], /no active key/],
  [["rotate", "x", "--overlap", "-1"], /overlap/],
  [["frobnicate"], /Unknown command: frobnicate\. Use add, list, rotate, revoke, sync/],
  [["add", "x", "y"], /Unexpected argument: y/],
  [["sync"], /sync needs --stage NAME/],
])("rejects a wrong call %j with a message that says what to do", async (args, message) => {
  expect(await partner(...args)).toMatchObject({ status: 1, errors: expect.stringMatching(message) });
});

test("shows its usage without arguments and with --help", async () => {
  expect(await partner()).toMatchObject({ status: 1, out: expect.stringContaining("Usage:") });
  expect(await partner("--help")).toMatchObject({ status: 0, out: expect.stringContaining("Usage:") });
});
