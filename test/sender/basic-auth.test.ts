import { beforeEach, describe, expect, test } from "vitest";
import { basicHeader } from "../steps/messaging.ts";
import { type OwnSecrets, startSecrets, stopClock } from "../steps/secrets.ts";

const name = "basic";
const city = { username: "city", password: "a:b:c é" };
const next = { username: "city-2", password: "another" };
let secrets: OwnSecrets;

const accept = (...credentials: unknown[]) => secrets.store.put(name, JSON.stringify({ credentials }));
const load = async () => (await import("#lib/sender/basic-auth.ts")).findUsername;
const encode = (bytes: string | Buffer) => Buffer.from(bytes).toString("base64");

beforeEach(async () => {
  secrets = await startSecrets({ BASIC_SECRET_ID: name });
  accept(city, next);
});

test("accepts either of two credentials, each with its username", async () => {
  const find = await load();
  expect(await find(basicHeader(city))).toBe("city");
  expect(await find(basicHeader(next))).toBe("city-2");
});

test.each([
  ["the scheme in another case", basicHeader(city).replace("Basic", "bASIC")],
  ["more spaces", `${basicHeader(city).replace(" ", "   ")} `],
  ["a letter in its decomposed form", basicHeader({ ...city, password: city.password.normalize("NFD") })],
])("accepts %s", async (_, header) => expect(await (await load())(header)).toBe("city"));

describe("rejects", () => {
  const good = encode(`${city.username}:${city.password}`);
  const rejected: [string, string | undefined][] = [
    ["no header", undefined],
    ["a blank header", ""],
    ["the scheme alone", "Basic"],
    ["another scheme", `Bearer ${good}`],
    ["no scheme", good],
    ["a wrong password", basicHeader({ ...city, password: "a:b:c e" })],
    ["another user's password", basicHeader({ ...city, password: next.password })],
    ["a password cut short", basicHeader({ ...city, password: "a:b:c " })],
    ["a password with something added", basicHeader({ ...city, password: `${city.password} ` })],
    ["no password", basicHeader({ ...city, password: "" })],
    ["a username in another case", basicHeader({ ...city, username: "City" })],
    ["no colon", `Basic ${encode("city")}`],
    ["an empty value", `Basic ${encode("")}`],
    ["a value that is not encoded", "Basic city:another"],
    ["base64 with a foreign character", `Basic ${good.slice(0, -2)}!${good.slice(-2)}`],
    ["base64 without its padding", `Basic ${encode("city-2:another").replace(/=+$/, "")}x`],
    ["base64 with unused bits set", "Basic Y2l0eS0yOmFub3RoZXJ="],
    ["base64url", `Basic ${Buffer.from([0xfb, 0xff]).toString("base64url")}`],
    ["bytes that are not UTF-8", `Basic ${encode(Buffer.from(`city:a:b:c \xe9`, "latin1"))}`],
    ["a byte order mark", `Basic ${encode("\uFEFFcity-2:another")}`],
    ["two credentials", `Basic ${good} ${good}`],
  ];
  test.each(rejected)("%s", async (_, header) => expect(await (await load())(header)).toBeUndefined());
});

test("a rotation reaches a warm function within five minutes, and revokes the old credentials", async () => {
  const clock = stopClock();
  accept(city);
  const find = await load();
  expect([await find(basicHeader(city)), await find(basicHeader(next))]).toEqual(["city", undefined]);
  accept(next);
  clock.pass(300_001);
  expect([await find(basicHeader(city)), await find(basicHeader(next))]).toEqual([undefined, "city-2"]);
});

test("a rotation reaches a warm function whose clock was set back", async () => {
  const clock = stopClock();
  accept(city);
  const find = await load();
  expect(await find(basicHeader(city))).toBe("city");
  accept(next);
  clock.pass(-3_600_000);
  expect([await find(basicHeader(city)), await find(basicHeader(next))]).toEqual([undefined, "city-2"]);
});

test("cached credentials stay valid while Secrets Manager does not respond", async () => {
  const clock = stopClock();
  const find = await load();
  await find(basicHeader(city));
  await secrets.stop();
  clock.pass(300_001);
  expect(await find(basicHeader(city))).toBe("city");
});

test.each([
  ["no credentials", []],
  ["three credentials", [city, next, { username: "c", password: "d" }]],
  ["a colon in the username", [{ username: "a:b", password: "c" }]],
  ["no username", [{ username: "", password: "c" }]],
  ["no password", [{ username: "a", password: "" }]],
])("a secret with %s rejects everyone", async (_, credentials) => {
  accept(...credentials);
  await expect((await load())(basicHeader(city))).rejects.toThrow("has another shape");
});
