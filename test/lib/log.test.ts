import { afterEach, expect, test, vi } from "vitest";
import { log } from "#lib/log.ts";

const written: string[] = [];
vi.spyOn(process.stdout, "write").mockImplementation((line) => {
  written.push(String(line));
  return true;
});
afterEach(() => {
  written.length = 0;
});
const last = () => JSON.parse(written.at(-1) ?? "{}");

test("writes one JSON object per line", () => {
  log.info("hello\nworld", { status: 200 });
  expect(written.join("")).toMatch(/^[^\n]+\n$/);
  expect(last()).toMatchObject({
    level: "info",
    message: "hello\nworld",
    status: 200,
    time: expect.any(String),
  });
});

test.each([
  "password",
  "Authorization",
  "apikey",
  "x-api-key",
  "refresh_token",
  "p_nik",
  "p_nama",
  "tiket",
  "SecretString",
])("redacts the value of %s at any depth", (key) => {
  log.info("x", { a: [{ [key]: "planted" }] });
  expect(written.join("")).not.toContain("planted");
});

test("leaves the id of a message as it is, however many digits it has", () => {
  log.info("request", { message_id: "3EB0C62799052866123125", path: "/messages/3EB0123456789012345678" });
  expect(last()).toMatchObject({
    message_id: "3EB0C62799052866123125",
    path: "/messages/3EB0123456789012345678",
  });
  log.info("not an id", { path: "/3EB01234567890123456789" });
  expect(last()).toMatchObject({ path: "/3EB[number]" });
});

test("redacts long numbers in texts, also in errors", () => {
  log.error("of 9999010101000001", {
    error: new Error("no 9999010101000001", { cause: "9999010101000001" }),
  });
  expect(written.join("")).not.toContain("9999010101000001");
});

test("logs only name, code, message and causes of an error", () => {
  const cause = Object.assign(new Error("refused"), {
    code: "ECONNREFUSED",
    query: "planted",
    parameters: ["planted"],
  });
  log.error("x", { error: new Error("outer", { cause }) });
  expect(last().error).toMatchObject({
    name: "Error",
    message: "outer",
    cause: { code: "ECONNREFUSED", message: "refused" },
  });
  expect(written.join("")).not.toContain("planted");
});

test("withholds a database message that quotes data", () => {
  const error = Object.assign(new Error('invalid input syntax: "planted"'), {
    code: "22P02",
    detail: "planted",
  });
  log.error("x", { error });
  expect(last().error.code).toBe("22P02");
  expect(written.join("")).not.toContain("planted");
});

test("accepts values that JSON cannot represent", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  log.warn("round", { circle, big: 1n });
  expect(last().level).toBe("warn");
});
