import { randomUUID } from "node:crypto";
import { beforeAll, expect, inject, test, vi } from "vitest";

let throttled: typeof import("#lib/employee/attempt.ts").throttled;

/** The throttle itself, on the city's database, with the login function's settings. */
beforeAll(async () => {
  for (const [name, value] of Object.entries(inject("city").variables["employee/login"] ?? {}))
    vi.stubEnv(name, value);
  ({ throttled } = await import("#lib/employee/attempt.ts"));
});

const refuse = async () => undefined;
/** The status with which an attempt that proves nothing ends; undefined when it was made. */
const guess = (kind: "login" | "ticket", account: string, address: string) =>
  throttled({ kind, account, from: { address } }, refuse).then(
    () => undefined,
    (error: { status: number }) => error.status,
  );

test("all addresses of one IPv6 subscriber share one limit", async () => {
  const network = `2001:db8:${Math.floor(Math.random() * 65_535).toString(16)}:1`;
  for (let i = 1; i <= 10; i++)
    expect(await guess("login", randomUUID(), `${network}::${i}`)).toBeUndefined();
  expect(await guess("login", randomUUID(), `${network}:9:9:9:9`)).toBe(429);
  expect(await guess("login", randomUUID(), network.replace(/:1$/, ":2::1"))).toBeUndefined();
});

test("failed logins do not block tickets of the same name", async () => {
  const name = randomUUID();
  const address = (i: number) => `203.0.113.${i}`;
  for (let i = 1; i <= 5; i++) expect(await guess("login", name, address(i))).toBeUndefined();
  expect(await guess("login", name, address(6))).toBe(429);
  expect(await guess("ticket", name, address(7))).toBeUndefined();
});

test("an attempt that fails with an error is not counted", async () => {
  const name = randomUUID();
  const from = { address: `198.51.100.${Math.floor(Math.random() * 250)}` };
  const breaks = () => Promise.reject(new Error("bug"));
  for (let i = 0; i < 8; i++)
    await expect(throttled({ kind: "login", account: name, from }, breaks)).rejects.toThrow("bug");
  expect(await throttled({ kind: "login", account: name, from }, async () => "proof")).toBe("proof");
});
