import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { createDatabase } from "../steps/temporary-database.ts";

const hour = 3_600_000;
const terms = { scopes: ["resident:read"] } as const;

let admin: postgres.Sql;
let directory: ReturnType<typeof partnerDirectory>;

beforeEach(async () => {
  const database = await createDatabase();
  admin = database.connect("adminUrl");
  directory = partnerDirectory(database.connect("partnerAdminUrl"));
});

/** When each key of the one partner ends, oldest key first. */
const ends = async () => (await directory.list()).map(({ expiresAt }) => expiresAt);

test("a second rotation with a longer overlap does not extend the first key", async () => {
  await directory.add("health", undefined, terms);
  await directory.rotate("health", hour);
  const [first] = await ends();
  await directory.rotate("health", 24 * hour);
  const [still, second, newest] = await ends();
  expect([still, newest]).toEqual([first, null]);
  expect(second?.getTime()).toBeGreaterThan((first?.getTime() ?? 0) + 22 * hour);
});

test("a rotation does not extend a key beyond its expiry, which the new key takes over", async () => {
  const expiresAt = new Date(Date.now() + hour);
  await directory.add("health", undefined, { ...terms, expiresAt });
  await directory.rotate("health", 24 * hour);
  expect(await ends()).toEqual([expiresAt, expiresAt]);
  await admin`update partner.api_key set expires_at = expires_at - interval '1 hour'`;
  expect((await directory.list()).map(({ state }) => state)).toEqual(["expired", "expired"]);
});

test("a rotation takes the terms of the newest active key, and affects no other partner", async () => {
  const soon = new Date(Date.now() + hour);
  const later = new Date(Date.now() + 2 * hour);
  await directory.add("health", undefined, { ...terms, expiresAt: soon });
  await directory.add("health", undefined, { ...terms, expiresAt: later });
  await directory.add("taxes", undefined, terms);
  expect((await directory.rotate("health", 0))?.expiresAt).toEqual(later);
  const states = (await directory.list()).map(({ partnerId, state }) => `${partnerId} ${state}`);
  expect(states).toEqual(["health expired", "health expired", "health active", "taxes active"]);
});

test("revoking a partner ends its active keys, and lists only those", async () => {
  const [first, second] = [
    await directory.add("health", undefined, terms),
    await directory.add("health", undefined, terms),
  ];
  await directory.add("taxes", undefined, terms);
  expect(await directory.revoke(first.keyId)).toEqual([first.keyId]);
  expect(await directory.revoke("health")).toEqual([second.keyId]);
  const plans = (await directory.listPlans()).map(({ partnerId, active }) => [partnerId, active]);
  expect(plans).toEqual([
    ["health", false],
    ["taxes", true],
  ]);
});
