import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken } from "#lib/opaque-token.ts";
import { mintKey, partnerDirectory } from "#lib/partner/partner-keys.ts";
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

test("a revoked key is rejected at once: only the gateway caches the policies of active keys", async () => {
  const find = await open();
  const directory = partnerDirectory(connectFor("partnerAdminUrl"));
  const { key, keyId } = await directory.add("revoked", "standard", { scopes: ["resident:read"] });
  expect((await find(key))?.keyId).toBe(keyId);
  await directory.revoke(keyId);
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

test("after a flood of unknown keys, only the newest thousand are cached", async () => {
  const find = await open();
  const first = mintKey();
  expect(await find(first)).toBeUndefined();
  await issue("cache-flooded", first);
  for (let count = 0; count < 20; count++)
    await Promise.all(Array.from({ length: 50 }, () => find(mintKey())));
  expect((await find(first))?.partnerId).toBe("cache-flooded");
});

test("a text that cannot be a key is rejected without a database", async () => {
  const find = await open({ DATABASE_SECRET_ID: "missing" });
  for (const text of ["mia_", "mia_short", `mir_${"A".repeat(43)}`, `mia_${"A".repeat(44)}`, "é"])
    expect([text, await find(text)]).toEqual([text, undefined]);
});
