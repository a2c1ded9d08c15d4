import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";

const partner = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/partner.ts"),
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
  const [first, second] = [(await partner("add", name)).out, (await partner("rotate", name)).out];
  const id = /key_\w+/.exec(first)?.[0] ?? "";
  expect((await partner("revoke", id)).out).toContain(`revoked ${id}`);
  expect([await reads(keyIn(first)), await reads(keyIn(second))]).toEqual([401, 200]);
  expect(await partner("revoke", id)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`No active key with ID or partner "${id}"`),
  });
});

test("a rotation leaves the partner's plan and scopes unchanged, unless others are given", async () => {
  const name = newName();
  const planOf = async () => new RegExp(`${name} +(\\w+)`).exec((await partner("list")).out)?.[1];
  await partner("add", name, "--plan", "trial");
  await partner("rotate", name);
  expect(await planOf()).toBe("trial");
  await partner("rotate", name, "--plan", "standard", "--scopes", "resident:read,resident:number");
  expect(await planOf()).toBe("standard");
  const keys = (await partner("list")).out.split("\n").filter((line) => line.startsWith(name));
  expect(keys.map((line) => line.includes("resident:number"))).toEqual([false, false, true]);
});

test("a key may verify citizens without showing any", async () => {
  const name = newName();
  const { out } = await partner("add", name, "--scope", "resident:verify");
  expect(await reads(keyIn(out))).toBe(403);
  expect((await partner("list")).out).toMatch(
    new RegExp(`${name} +standard +key_\\w+ +resident:verify +active`),
  );
});

test("a key's purposes are listed, stay at a rotation, and end with none", async () => {
  const name = newName();
  const purposes = async () => {
    const { keys } = JSON.parse((await partner("list", "--json")).out);
    return keys.filter((key: { partnerId: string }) => key.partnerId === name).at(-1).purposes;
  };
  const { out } = await partner("add", name, "--purposes", "tax, health-insurance");
  expect([await reads(keyIn(out)), await purposes()]).toEqual([400, "tax,health-insurance"]);
  await partner("rotate", name);
  expect(await purposes()).toBe("tax,health-insurance");
  const last = await partner("rotate", name, "--purposes", "none");
  expect([await reads(keyIn(last.out)), await purposes()]).toEqual([200, null]);
});

test("a key's fields are listed, stay at a rotation, and are all again with all", async () => {
  const name = newName();
  const fields = async () => {
    const { keys } = JSON.parse((await partner("list", "--json")).out);
    return keys.filter((key: { partnerId: string }) => key.partnerId === name).at(-1).fields;
  };
  await partner("add", name, "--fields", "nama, t_desakel");
  expect(await fields()).toBe("nama,t_desakel");
  await partner("rotate", name);
  expect(await fields()).toBe("nama,t_desakel");
  await partner("rotate", name, "--fields", "all");
  expect(await fields()).toBe(null);
});

test("a partner's limits are those of 50 clerks, unless others are given, and may be none", async () => {
  const name = newName();
  const limits = async () => {
    const { keys } = JSON.parse((await partner("list", "--json")).out);
    const { residentsRead, residentsPerDay, lookUpsPerMinute } = keys.findLast(
      (key: { partnerId: string }) => key.partnerId === name,
    );
    read = residentsRead;
    return [residentsPerDay, lookUpsPerMinute];
  };
  let read: number | undefined;
  const { out } = await partner("add", name);
  expect(await limits()).toEqual([250_000, 75]);
  const changed = await partner("limit", name, "--residents-per-day", "1", "--look-ups-per-minute", "none");
  expect(changed).toMatchObject({
    errors: "",
    status: 0,
    out: expect.stringContaining("apply to its next read"),
  });
  // a page has more residents than that
  expect([await limits(), await reads(keyIn(out))]).toEqual([[1, null], 429]);
  expect(await limits()).toEqual([1, null]);
  await partner("limit", name, "--residents-per-day", "none");
  await partner("rotate", name);
  expect([read, await reads(keyIn(out)), ...(await limits())]).toEqual([0, 200, null, null]);
  expect(read).toBeGreaterThan(1);
  expect((await partner("list")).out).toMatch(new RegExp(`${name} .* none +none\\n`));
  await partner("revoke", name);
  await partner("add", name, "--look-ups-per-minute", "300");
  expect(await limits()).toEqual([null, 300]);
});

test("limit of an unknown partner points to the list", async () => {
  expect(await partner("limit", "nobody", "--residents-per-day", "10")).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/No partner "nobody".*partner list/),
  });
});

test("add refuses a partner with an active key and points to rotate", async () => {
  const name = newName();
  const { out } = await partner("add", name);
  expect(await partner("add", name)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(`npm run city -- partner rotate ${name}`),
  });
  expect((await partner("list")).out.split(name)).toHaveLength(2);
  await partner("revoke", name);
  expect((await partner("add", name)).status).toBe(0);
  expect(await reads(keyIn(out))).toBe(401);
});

test("a key is JSON with --json", async () => {
  const name = newName();
  const { keyId, key, ...rest } = JSON.parse((await partner("add", name, "--json")).out);
  expect([await reads(key), rest]).toEqual([200, { partner: name, expiresAt: null }]);
  const { keys } = JSON.parse((await partner("list", "--json")).out);
  expect(keys).toContainEqual(expect.objectContaining({ partnerId: name, keyId, state: "active" }));
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

test("a key is valid until the end of its expiry day in the city", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-06-01T16:59:58Z") });
  onTestFinished(() => void vi.useRealTimers());
  const name = newName();
  const { out } = await partner("add", name, "--expires", "2030-06-01");
  expect(out).toContain("expires 2030-06-01 23:59 WIB");
  const [row] = await connectFor("adminUrl")<{ end: Date }[]>`
    select expires_at as end from partner.api_key where partner_id = ${name}`;
  expect(row?.end.toISOString()).toBe("2030-06-01T16:59:59.000Z");
  expect((await partner("add", name, "--expires", "2030-05-31")).errors).toContain("must be a future date");
});

test.each<[string[], RegExp]>([
  [["add"], /Missing required argument 'partner'/],
  [["add", "Dinas Kesehatan"], /PARTNER must be/],
  [["add", "x", "--scopes", "all"], /Unknown scope: all\. Use resident:read, resident:number/],
  [["add", "x", "--scope", "resident:number"], /resident:number has no effect without resident:read/],
  [["add", "x", "--scopes", "resident:verify,resident:number"], /Use --scopes resident:read,resident:number/],
  [["add", "x", "--purposes", "tax,,school"], /A purpose must be .* not empty/],
  [["add", "x", "--purposes", "9971011501800007"], /A purpose must be/],
  [["add", "x", "--purposes", "None"], /none is no purpose\. To require none, use --purposes none alone/],
  [["rotate", "x", "--purposes", "tax,none"], /none is no purpose/],
  [["add", "x", "--fields", "nama,nik"], /Unknown field: nik\. Use all, or some of nik_alt, nama, /],
  [["add", "x", "--residents-per-day", "0"], /--residents-per-day must be a whole number from 1 to/],
  [["limit", "x", "--look-ups-per-minute", "some"], /--look-ups-per-minute must be a whole number/],
  [["limit", "x"], /Give at least one of --residents-per-day and --look-ups-per-minute/],
  [["add", "x", "--plan", "gold"], /Unknown plan: gold\. Use standard, trial, portal/],
  [["add", "x", "--expires", "2020-01-01"], /a future date/],
  [["add", "x", "--expires", "2030-02-31"], /a future date/],
  [["rotate", "x", "--overlap", "-1"], /overlap/],
  [["rotat", "x"], /Unknown command 'rotat'\. Did you mean rotate\?/],
  [["add", "x", "y"], /Too many arguments for 'add'/],
  [["sync"], /Add --stage NAME/],
])("rejects a wrong call %j with a message that says what to do", async (args, message) => {
  expect(await partner(...args)).toMatchObject({ status: 2, errors: expect.stringMatching(message) });
});

test("rotate of a partner without a key points to add", async () => {
  expect(await partner("rotate", "nobody")).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/no active key.*partner add nobody/),
  });
});

test("shows its usage without arguments and with --help", async () => {
  expect(await partner()).toMatchObject({ status: 2, errors: expect.stringContaining("Usage:") });
  expect(await partner("--help")).toMatchObject({ status: 0, out: expect.stringContaining("Usage:") });
});
