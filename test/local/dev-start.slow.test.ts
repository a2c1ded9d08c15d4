import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import { findPort } from "../../infra/local/loopback.ts";
import { useDevProgram } from "./dev-program.ts";

/** Some of them start the whole system. */
vi.setConfig({ testTimeout: 240_000 });

const { checkout, folder, devFile, start, startReady, stopAll, serverPid, isAlive, listResidents } =
  useDevProgram();

// a test that fails must not leave its system to the next one
afterEach(stopAll);

test("deletes the old data with --fresh", async () => {
  const first = await startReady("--residents", "8");
  expect((await listResidents()).total).toBe(8);
  first.kill("SIGTERM");
  await once(first, "exit");
  const child = await startReady("--fresh", "--residents", "7");
  expect((await listResidents()).total).toBe(7);
  child.kill("SIGINT");
  expect((await once(child, "exit"))[0]).toBe(0);
});

test("stops soon when it is interrupted during its start", async () => {
  const child = start("--port", "0", "--fresh", "--residents", "2000000");
  child.stdout?.on("data", (chunk) => {
    if (String(chunk).includes("inventing")) child.kill("SIGINT");
  });
  expect((await once(child, "exit"))[0]).toBe(0);
  expect(existsSync(`${folder}/dev.pid`)).toBe(false);
  expect(existsSync(`${folder}/postgres/postmaster.pid`)).toBe(false);
});

test("fails when a port is in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await text(start("--port", String(port)).stderr as NodeJS.ReadableStream)).toContain(
    `Port ${port} is in use`,
  );
  other.close();
});

test("serves the console and the platform at the same ports after a restart", async () => {
  const [one, two] = [await findPort(), await findPort()];
  const restart = async () => {
    const child = await startReady("--console-port", String(one), "--platform-port", String(two));
    const { consoleUrl, platformUrl } = devFile();
    child.kill("SIGTERM");
    await once(child, "exit");
    return [consoleUrl, platformUrl];
  };
  const expected = [`http://127.0.0.1:${one}/console`, `http://127.0.0.1:${two}`];
  expect([await restart(), await restart()]).toEqual([expected, expected]);
});

test("says in --help at which ports the console and the platform are, restart after restart", async () => {
  const help = await text(start("--help").stdout as NodeJS.ReadableStream);
  expect(help.replace(/\s+/g, " ")).toMatch(/the console \(default: 3002,.* the simulated.*\(default: 3003,/);
});

test("ends with one sentence when its folder is deleted while it runs", async () => {
  const child = await startReady();
  const database = serverPid();
  rmSync(folder, { recursive: true });
  const [printed, [code]] = await Promise.all([
    text(child.stderr as NodeJS.ReadableStream),
    once(child, "exit"),
  ]);
  expect([code, isAlive(database)]).toEqual([1, false]);
  expect(printed.trim().split("\n").at(-1)).toMatch(/ was deleted while .* run npm run dev again\.$/);
});

test("changes nothing in a folder that it did not create", async () => {
  const other = mkdtempSync(join(tmpdir(), "other-"));
  mkdirSync(`${other}/postgres`);
  writeFileSync(`${other}/postgres/thesis.txt`, "years of work");
  const child = spawn(process.execPath, [checkout.devProgram, "--folder", other, "--fresh"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect(await text(child.stderr)).toContain("contains something other than a database");
  expect(readFileSync(`${other}/postgres/thesis.txt`, "utf8")).toBe("years of work");
  rmSync(other, { recursive: true });
});

test.each([
  [["--port", "x"], "--port must be a whole number"],
  [["--port", "70000"], "--port must be a whole number"],
  [["--residents", "-1"], "--residents"],
  [["--fresch"], "Unknown option '--fresch'. Did you mean --fresh? See: npm run dev -- --help"],
])("says what is wrong with the option %j", async (args, message) => {
  const child = start(...args);
  expect(await text(child.stderr as NodeJS.ReadableStream)).toContain(message);
});
