import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { mintKey, partnerDirectory } from "#lib/partner/directory.ts";
import { connectFor } from "../steps/connections.ts";

/** The authorizer's own module with the authorizer's settings and an empty cache. */
const open = async () => {
  vi.resetModules();
  for (const [name, value] of Object.entries(inject("city").variables["authorizers/api-key"] ?? {}))
    vi.stubEnv(name, value);
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

test("an unknown key is not cached", async () => {
  const find = await open();
  const key = mintKey();
  expect(await find(key)).toBeUndefined();
  const { keyId } = await partnerDirectory(connectFor("partnerAdminUrl")).add("cache-new", "standard", {
    scopes: ["resident:read"],
  });
  await connectFor("adminUrl")`update partner.api_key set digest = ${digestToken(key)} where id = ${keyId}`;
  expect((await find(key))?.partnerId).toBe("cache-new");
});
