import { spawnSync } from "node:child_process";
import { expect, inject, test } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { connectFor } from "../steps/connections.ts";

const partner = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["infra/commands/partner.ts", ...args], {
    env: { DATABASE_URL: inject("city").partnerAdminUrl },
    encoding: "utf8",
  });
  return { status, out: stdout, errors: stderr };
};

const keyIn = (out: string) => /^mia_\S+$/m.exec(out)?.[0] ?? "";
const reads = async (key: string) =>
  (await fetch(`${inject("city").baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey: key } })).status;
const newName = () => `agency-${Math.random().toString(36).slice(2, 8)}`;

test("a key that is added works, is shown once and stored as a digest", async () => {
  const name = newName();
  const { out } = partner("add", name);
  const key = keyIn(out);
  expect(await reads(key)).toBe(200);
  const [row] = await connectFor("adminUrl")`select digest from partner.api_key where partner_id = ${name}`;
  expect(row?.digest).toEqual(digestToken(key));
  const list = partner("list").out;
  expect(list).toMatch(new RegExp(`${name} +standard +key_\\w+ +resident:read +active`));
  expect(list).not.toContain(key);
});

test("a partner may hold several keys, and lose one of them", async () => {
  const name = newName();
  const [first, second] = [partner("add", name), partner("add", name)].map(({ out }) => out);
  const id = /key_\w+/.exec(first ?? "")?.[0] ?? "";
  expect(partner("revoke", id).out).toContain(`revoked ${id}`);
  expect([await reads(keyIn(first ?? "")), await reads(keyIn(second ?? ""))]).toEqual([401, 200]);
  expect(partner("revoke", id)).toMatchObject({
    status: 1,
    errors: expect.stringContaining("neither an active key"),
  });
});

test("one more key leaves the partner's plan as it is, unless another is named", () => {
  const name = newName();
  const planOf = () => new RegExp(`${name} +(\\w+)`).exec(partner("list").out)?.[1];
  partner("add", name, "--plan", "trial");
  partner("add", name);
  expect(planOf()).toBe("trial");
  partner("add", name, "--plan", "standard");
  expect(planOf()).toBe("standard");
});

test("a rotated key goes on for its overlap, the new one takes its scopes", async () => {
  const name = newName();
  const old = keyIn(partner("add", name).out);
  const next = keyIn(partner("rotate", name, "--overlap", "1").out);
  expect([await reads(old), await reads(next)]).toEqual([200, 200]);
  const newest = keyIn(partner("rotate", name, "--overlap", "0").out);
  expect(await reads(newest)).toBe(200);
  const states = partner("list")
    .out.split("\n")
    .filter((line) => line.startsWith(name));
  expect(states.map((line) => /active|expired/.exec(line)?.[0])).toEqual(["expired", "expired", "active"]);
});

test("a key that replaces a leaked one keeps the partner's own terms, not the end of an overlap", () => {
  const name = newName();
  partner("add", name);
  const leaked = /key_\w+/.exec(partner("rotate", name, "--overlap", "1").out)?.[0] ?? "";
  partner("revoke", leaked);
  expect(partner("rotate", name).out).toContain("without end");
});

test.each<[string[], RegExp]>([
  [["add"], /Give a partner of 1 to 40/],
  [["add", "Dinas Kesehatan"], /Give a partner/],
  [["add", "x", "--scopes", "all"], /no scope all; choose from resident:read/],
  [["add", "x", "--plan", "gold"], /no plan gold; choose from standard, trial/],
  [["add", "x", "--expires", "2020-01-01"], /a day to come/],
  [["add", "x", "--expires", "2030-02-31"], /a day to come/],
  [["rotate", "nobody"], /no active key/],
  [["rotate", "x", "--overlap", "-1"], /overlap/],
  [["frobnicate"], /choose add, list, rotate, revoke or sync/],
  [["add", "x", "y"], /one word too many/],
  [["sync"], /Name the deployed stage by --stage/],
])("mends a wrong call %j by its message", (args, message) => {
  expect(partner(...args)).toMatchObject({ status: 1, errors: expect.stringMatching(message) });
});

test("shows its usage when it is called with nothing, or asked for help", () => {
  expect(partner()).toMatchObject({ status: 1, out: expect.stringContaining("Usage:") });
  expect(partner("--help")).toMatchObject({ status: 0, out: expect.stringContaining("Usage:") });
});
