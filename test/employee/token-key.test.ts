import { beforeEach, expect, test, vi } from "vitest";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type OwnSecrets, startSecrets, stopClock } from "../steps/secrets.ts";

const name = "key";
const { mint } = secretTable["token-key"];
let secrets: OwnSecrets;
let clock: ReturnType<typeof stopClock>;

const rotate = () => {
  const key = mint();
  secrets.store.put(name, JSON.stringify(key));
  return key;
};
const loadKeys = () => import("#lib/employee/token-key.ts");

beforeEach(async () => {
  clock = stopClock();
  secrets = await startSecrets({ TOKEN_KEY_SECRET_ID: name });
});

test("the current key signs; the current and the previous key verify", async () => {
  const [before, now] = [rotate(), rotate()];
  const { getSigningKey, findVerifyingKey } = await loadKeys();
  expect(await getSigningKey()).toEqual(now);
  expect(await findVerifyingKey(now.kid)).toEqual(now);
  expect(await findVerifyingKey(before.kid)).toEqual(before);
});

test("before the first rotation there is one key", async () => {
  const only = rotate();
  const { findVerifyingKey } = await loadKeys();
  expect(await findVerifyingKey(only.kid)).toEqual(only);
  expect(await findVerifyingKey("unknown")).toBeUndefined();
});

test("a new key is loaded for its first token", async () => {
  rotate();
  const { findVerifyingKey } = await loadKeys();
  await findVerifyingKey("unknown");
  const fresh = rotate();
  expect(await findVerifyingKey(fresh.kid)).toEqual(fresh);
});

test("unknown key ids cause at most one refetch in ten seconds, and fail at once", async () => {
  const key = rotate();
  const { findVerifyingKey } = await loadKeys();
  const find = vi.spyOn(secrets.store, "find");
  for (let i = 0; i < 50; i++) {
    expect(await findVerifyingKey(mint().kid)).toBeUndefined();
    expect(await findVerifyingKey(`${i}`)).toBeUndefined();
  }
  expect(find.mock.calls.length).toBe(4); // both stages, at the first key id and at the first unknown one
  clock.pass(9_999);
  expect(await findVerifyingKey(mint().kid)).toBeUndefined();
  expect(find.mock.calls.length).toBe(4);
  clock.pass(1);
  const fresh = rotate();
  expect(await findVerifyingKey(fresh.kid)).toEqual(fresh);
  expect(await findVerifyingKey(key.kid)).toEqual(key);
});

test("concurrent unknown key ids share one refetch, which known ones do not wait for", async () => {
  const key = rotate();
  const { findVerifyingKey } = await loadKeys();
  await findVerifyingKey(key.kid);
  const find = vi.spyOn(secrets.store, "find");
  let pending = true;
  const unknown = Promise.all(Array.from({ length: 20 }, () => findVerifyingKey(mint().kid))).finally(() => {
    pending = false;
  });
  expect([await findVerifyingKey(key.kid), pending]).toEqual([key, true]);
  expect(new Set(await unknown)).toEqual(new Set([undefined]));
  expect(find.mock.calls.length).toBe(2); // both stages
});

test("a refetch that fails is not repeated for ten seconds, and known key ids stay valid", async () => {
  const key = rotate();
  const { findVerifyingKey } = await loadKeys();
  await findVerifyingKey(key.kid);
  const find = vi.spyOn(secrets.store, "find").mockImplementation(() => {
    throw new Error("unavailable");
  });
  await expect(findVerifyingKey(mint().kid)).rejects.toThrow("cannot be read");
  const calls = find.mock.calls.length;
  await expect(findVerifyingKey(mint().kid)).rejects.toThrow("cannot be read");
  expect([find.mock.calls.length, await findVerifyingKey(key.kid)]).toEqual([calls, key]);
});

test("a key replaced twice is rejected within five minutes, also without newer tokens", async () => {
  const old = rotate();
  const { getSigningKey, findVerifyingKey } = await loadKeys();
  await Promise.all([getSigningKey(), findVerifyingKey(old.kid)]);
  rotate();
  const now = rotate();
  clock.pass(300_001);
  expect(await getSigningKey()).toEqual(now);
  expect(await findVerifyingKey(old.kid)).toBeUndefined();
});

test("cached keys stay valid while Secrets Manager does not respond", async () => {
  const key = rotate();
  const { getSigningKey, findVerifyingKey } = await loadKeys();
  await Promise.all([getSigningKey(), findVerifyingKey(key.kid)]);
  await secrets.stop();
  clock.pass(300_001);
  expect(await getSigningKey()).toEqual(key);
  expect(await findVerifyingKey(key.kid)).toEqual(key);
});

test("a token is valid at once, also on a clock a few seconds behind", async () => {
  rotate();
  const { issueAccessToken, verifyAccessToken } = await import("#lib/employee/access-token.ts");
  const token = await issueAccessToken({ accountId: "7", scope: "employee:read" });
  clock.pass(-4_000);
  expect(await verifyAccessToken(token)).toMatchObject({ accountId: "7", scopes: ["employee:read"] });
  clock.pass(-3_000);
  expect(await verifyAccessToken(token)).toBeUndefined();
});

test.each([
  ["too short a key", { k: "c2hvcnQ" }],
  ["no key", { k: "" }],
  ["another kind of key", { kty: "RSA" }],
  ["no id", { kid: "" }],
  ["an id of another form", { kid: "key-1" }],
])("a secret with %s cannot sign", async (_, change) => {
  secrets.store.put(name, JSON.stringify({ ...mint(), ...change }));
  await expect((await loadKeys()).getSigningKey()).rejects.toThrow("has another shape");
});
