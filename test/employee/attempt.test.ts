import { randomBytes, randomUUID } from "node:crypto";
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
const guess = (name: string, address: string, accountId?: string) =>
  throttled({ name, address, ...(accountId && { accountId }) }, refuse).then(
    () => undefined,
    (error: { status: number }) => error.status,
  );

/** An address in a network of its own. */
const elsewhere = (() => {
  let count = 0;
  const bytes = randomBytes(2);
  return () => `10.${bytes[0]}.${(bytes[1] ?? 0) ^ ++count}.1`;
})();

test("all addresses of one IPv6 subscriber share one limit", async () => {
  const network = `2001:db8:${Math.floor(Math.random() * 65_535).toString(16)}:1`;
  for (let i = 1; i <= 10; i++)
    expect(await guess(randomUUID(), `${network}${i.toString(16).padStart(2, "0")}::${i}`)).toBeUndefined();
  expect(await guess(randomUUID(), `${network}ff:9:9:9:9`)).toBe(429);
  expect(await guess(randomUUID(), `${network.replace(/:1$/, ":2")}00::1`)).toBeUndefined();
});

test("a login and a ticket share the five failures of a name, because the password is the passphrase", async () => {
  const [name, address] = [randomUUID(), elsewhere()];
  for (let i = 1; i <= 3; i++) expect(await guess(name, address)).toBeUndefined();
  for (let i = 1; i <= 2; i++) expect(await guess(name, address, randomUUID())).toBeUndefined();
  expect(await guess(name, address)).toBe(429);
  expect(await guess(name, address, randomUUID())).toBe(429);
});

test("a name has thirty failures an hour from all networks together, but none of them locks a known one", async () => {
  const [name, home] = [randomUUID(), elsewhere()];
  const prove = (address: string) => throttled({ name, address }, async () => "proof");
  await prove(home);
  for (let network = 1; network <= 6; network++) {
    const address = elsewhere();
    for (let i = 1; i <= 5; i++) expect(await guess(name, address)).toBeUndefined();
    await expect(prove(address)).rejects.toMatchObject({ status: 429 });
  }
  await expect(prove(elsewhere())).rejects.toMatchObject({ status: 429 });
  expect(await prove(home)).toBe("proof");
});

test("the failures of a known network lock it", async () => {
  const [name, home] = [randomUUID(), elsewhere()];
  await throttled({ name, address: home }, async () => "proof");
  for (let i = 1; i <= 5; i++) expect(await guess(name, home)).toBeUndefined();
  expect(await guess(name, home)).toBe(429);
});

test("an attempt that fails with an error is not counted", async () => {
  const name = randomUUID();
  const from = { address: `198.51.100.${Math.floor(Math.random() * 250)}` };
  const breaks = () => Promise.reject(new Error("bug"));
  for (let i = 0; i < 8; i++) await expect(throttled({ name, ...from }, breaks)).rejects.toThrow("bug");
  expect(await throttled({ name, ...from }, async () => "proof")).toBe("proof");
});
