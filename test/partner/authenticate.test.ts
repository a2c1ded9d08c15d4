import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { mintKey, partnerDirectory } from "#lib/partner/directory.ts";
import { connectFor } from "../steps/connections.ts";

/** The authorizer's own module with the authorizer's settings and an empty cache. */
const open = async (changed: Readonly<Record<string, string>> = {}) => {
  vi.resetModules();
  const variables = { ...inject("city").variables["authorizers/api-key"], ...changed };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });
  return (await import("#lib/partner/authenticate.ts")).findPartnerByKey;
};

test("a revoked key is rejected within 30 s in a warm environment", async () => {
  const find = await open();
  const directory = partnerDirectory(connectFor("partnerAdminUrl"));
  const { key, keyId } = await directory.add("cache-revoked", "standard", { scopes: ["resident:read"] });
  expect((await find(key))?.keyId).toBe(keyId);
  await directory.revoke(keyId);
  expect((await find(key))?.keyId).toBe(keyId);
  vi.setSystemTime(Date.now() + 31_000);
  expect(await find(key)).toBeUndefined();
});

test("a revoked key is rejected in a warm environment whose clock was set back", async () => {
  const find = await open();
  const directory = partnerDirectory(connectFor("partnerAdminUrl"));
  const { key, keyId } = await directory.add("cache-clock", "standard", { scopes: ["resident:read"] });
  expect((await find(key))?.keyId).toBe(keyId);
  await directory.revoke(keyId);
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(await find(key)).toBeUndefined();
});

test("a key is not cached beyond its expiry", async () => {
  const find = await open();
  const directory = partnerDirectory(connectFor("partnerAdminUrl"));
  const expiresAt = new Date(Date.now() + 5_000);
  const { key } = await directory.add("cache-expiring", "standard", { scopes: ["resident:read"], expiresAt });
  expect(await find(key)).toBeDefined();
  await connectFor(
    "adminUrl",
  )`update partner.api_key set expires_at = now() where partner_id = 'cache-expiring'`;
  vi.setSystemTime(expiresAt.getTime() + 1);
  expect(await find(key)).toBeUndefined();
});

/** Issues a key that a caller has sent before. */
const issue = async (partnerId: string, key: string) => {
  const { keyId } = await partnerDirectory(connectFor("partnerAdminUrl")).add(partnerId, "standard", {
    scopes: ["resident:read"],
  });
  await connectFor("adminUrl")`update partner.api_key set digest = ${digestToken(key)} where id = ${keyId}`;
};

test("a key that was rejected before it was issued is accepted within 10 s in a warm environment", async () => {
  const find = await open();
  const key = mintKey();
  expect(await find(key)).toBeUndefined();
  await issue("cache-new", key);
  expect(await find(key)).toBeUndefined();
  vi.setSystemTime(Date.now() + 10_001);
  expect((await find(key))?.partnerId).toBe("cache-new");
});

test("a flood of unknown keys leaves the active ones cached, and only the newest thousand of its own", async () => {
  const find = await open();
  const [active, first] = [mintKey(), mintKey()];
  await issue("cache-flood", active);
  expect(await find(active)).toBeDefined();
  expect(await find(first)).toBeUndefined();
  await issue("cache-flooded", first);
  for (let count = 0; count < 1_000; count++) await find(mintKey());
  expect((await find(first))?.partnerId).toBe("cache-flooded");
  await partnerDirectory(connectFor("partnerAdminUrl")).revoke("cache-flood");
  // from the cache: in the database it is revoked
  expect(await find(active)).toBeDefined();
});

test("a text that cannot be a key is rejected without a database", async () => {
  const find = await open({ DATABASE_SECRET_ID: "missing" });
  for (const text of ["mia_", "mia_short", `mir_${"A".repeat(43)}`, `mia_${"A".repeat(44)}`, "é"])
    expect([text, await find(text)]).toEqual([text, undefined]);
});
