import { expect, inject, onTestFinished, test, vi } from "vitest";
import { digestToken, mintToken } from "#lib/opaque-token.ts";
import { senderDirectory } from "#lib/sender/sender-admin.ts";
import { connectFor } from "../steps/connections.ts";
import { basicHeader } from "../steps/messaging.ts";

/** The authorizer's own module with the authorizer's settings and an empty cache. */
const open = async (changed: Readonly<Record<string, string>> = {}) => {
  vi.resetModules();
  const variables = { ...inject("city").variables["authorizers/basic"], ...changed };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { findUsername } = await import("#lib/sender/basic-auth.ts");
  return (username: string, password: string) => findUsername(basicHeader({ username, password }));
};

const directory = () => senderDirectory(connectFor("senderAdminUrl"));
const newName = () => `office-${Math.random().toString(36).slice(2, 8)}`;

test("an issued password is accepted with its own name only, and no other password is", async () => {
  const find = await open();
  const [name, other] = [newName(), newName()];
  const { password } = await directory().add(name);
  const { password: foreign } = await directory().add(other);
  expect(await find(name, password)).toBe(name);
  for (const [wrongName, wrong] of [
    [other, password],
    [name, foreign],
    [name, mintToken("mis_")],
    [name, password.replace("mis_", "mia_")],
    ["", password],
    ["\0", password],
    ["x".repeat(5_000), password],
  ] as const)
    expect([wrongName, await find(wrongName, wrong)]).toEqual([wrongName, undefined]);
});

test("a password that was sent with a wrong name is accepted with the right one at once", async () => {
  const find = await open();
  const name = newName();
  const { password } = await directory().add(name);
  expect(await find("typo", password)).toBeUndefined();
  expect(await find(name, password)).toBe(name);
});

test("a revoked or expired password is rejected at once: only the gateway caches the policies of active ones", async () => {
  const find = await open();
  const name = newName();
  const { id, password } = await directory().add(name);
  const { password: next } = (await directory().rotate(name, 3_600_000)) ?? expect.fail("nothing was issued");
  expect([await find(name, password), await find(name, next)]).toEqual([name, name]);
  await directory().revoke(id);
  expect([await find(name, password), await find(name, next)]).toEqual([undefined, name]);
  await connectFor("adminUrl")`
    update messaging.sender_credential set expires_at = now() where digest = ${digestToken(next)}`;
  expect(await find(name, next)).toBeUndefined();
});

test("the time of the last use is recorded", async () => {
  const find = await open();
  const name = newName();
  const { id, password } = await directory().add(name);
  const listed = async () => (await directory().listCredentials()).find((one) => one.id === id);
  expect(await listed()).toMatchObject({ sender: name, state: "active", lastUsedAt: null });
  await find(name, password);
  expect((await listed())?.lastUsedAt).toBeInstanceOf(Date);
});

test("the secret's users and 200 wrong passwords need no database", async () => {
  const find = await open({ DATABASE_SECRET_ID: "missing" });
  const { username, password } = inject("city").basic;
  expect(await find(username, password)).toBe(username);
  for (let tried = 0; tried < 200; tried++)
    expect(await find(username, `mis_${"x".repeat(tried % 43)}`)).toBeUndefined();
  await expect(find(username, mintToken("mis_"))).rejects.toThrow();
});
