import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { destroyServer } from "../../infra/local/postgres/server.ts";
import { makeCheckout } from "../steps/checkout.ts";

/** Most of them start the whole system. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const checkout = makeCheckout();
const folder = `${checkout.folder}/.local`;
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await destroyServer(`${folder}/postgres`);
  checkout.remove();
});

const devFile = () => JSON.parse(readFileSync(`${folder}/dev.json`, "utf8"));
const start = (...args: string[]) => {
  const child = spawn(
    process.execPath,
    [checkout.devProgram, "--folder", folder, "--residents", "30", ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  children.push(child);
  return child;
};
/** Started, and told its addresses. @throws Error with what it said when it ended instead. */
const startReady = async (...args: string[]) => {
  const child = start("--port", "0", "--messaging-port", "0", ...args);
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (chunk) => said.push(String(chunk)));
    child.stdout?.on("data", (chunk) => String(chunk).includes("Ctrl-C stops") && resolve());
    child.once("exit", () => reject(new Error(said.join(""))));
  });
  return child;
};
const serverPid = () => Number(readFileSync(`${folder}/postgres/postmaster.pid`, "utf8").split("\n")[0]);
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const listResidents = async () => {
  const { baseUrl, apiKey } = devFile();
  const response = await fetch(`${baseUrl}/v1/penduduk`, { method: "POST", headers: { apikey: apiKey } });
  return (await response.json()) as { total: number };
};

describe("while it runs", () => {
  let child: ChildProcess;
  beforeAll(async () => {
    child = await startReady();
  });

  test("answers with the key that it wrote down for its owner only", async () => {
    expect(statSync(`${folder}/dev.json`).mode & 0o777).toBe(0o600);
    expect(Object.keys(devFile())).toEqual([
      ...["baseUrl", "apiKey", "messagingBaseUrl", "docsUrl", "basic", "consoleUrl", "console", "phone"],
      ...["platformUrl", "employee", "databaseUrl", "secretsUrl", "legacyAuthUrl", "employeeSystemUrl"],
    ]);
    expect(Object.keys(devFile().employee)).toEqual(["username", "password", "nip", "passphrase"]);
    expect((await listResidents()).total).toBe(30);
    for (const path of ["/docs", "/docs/paging", "/docs/reference.js", "/openapi.json"])
      expect([path, (await fetch(`${devFile().baseUrl}${path}`)).status]).toEqual([path, 200]);
  });

  test("refuses to run twice in one folder", async () => {
    expect(await text(start().stderr as NodeJS.ReadableStream)).toContain("is running here already");
    expect((await listResidents()).total).toBe(30);
  });

  test("shows a guide and a function as they are after a change of theirs", async () => {
    const address = `${devFile().baseUrl}/docs/paging`;
    const guide = `${checkout.folder}/lib/docs/guides/en/paging.md`;
    writeFileSync(guide, `${readFileSync(guide, "utf8")}\nA line that was not there.\n`);
    await expect
      .poll(async () => (await fetch(address)).text(), { timeout: 60_000 })
      .toContain("A line that was not there.");
    const fn = `${checkout.folder}/functions/docs/file.ts`;
    const before = readFileSync(fn, "utf8");
    writeFileSync(fn, `${before}\nthrow new Error("does not start");\n`);
    await expect.poll(async () => (await fetch(address)).status, { timeout: 60_000 }).not.toBe(200);
    writeFileSync(fn, before);
  });

  test("keeps its data and its key when it is killed and started again, with the database left running", async () => {
    const { apiKey } = devFile();
    const database = serverPid();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive(database)).toBe(true);
    rmSync(`${folder}/dev.json`);
    child = await startReady();
    expect([devFile().apiKey, (await listResidents()).total]).toEqual([apiKey, 30]);
    expect(serverPid()).not.toBe(database);
  });

  test("leaves nothing behind at SIGTERM, also when nobody reads what it prints any more", async () => {
    const database = serverPid();
    child.stdout?.destroy();
    await listResidents();
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(0);
    expect([isAlive(database), existsSync(`${folder}/dev.json`), existsSync(`${folder}/dev.pid`)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

test("throws the old data away when it is asked for a fresh start", async () => {
  const child = await startReady("--fresh", "--residents", "7");
  expect((await listResidents()).total).toBe(7);
  child.kill("SIGINT");
  expect((await once(child, "exit"))[0]).toBe(0);
});

test("stops soon when it is interrupted while it is still starting", async () => {
  const child = start("--port", "0", "--fresh", "--residents", "2000000");
  child.stdout?.on("data", (chunk) => {
    if (String(chunk).includes("inventing")) child.kill("SIGINT");
  });
  expect((await once(child, "exit"))[0]).toBe(0);
  expect(existsSync(`${folder}/dev.pid`)).toBe(false);
  expect(existsSync(`${folder}/postgres/postmaster.pid`)).toBe(false);
});

test("does not take a port that somebody has", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  expect(await text(start("--port", String(port)).stderr as NodeJS.ReadableStream)).toContain(
    `port ${port} is taken`,
  );
  other.close();
});

test("touches nothing in a folder that is not a database of its own", async () => {
  const other = mkdtempSync(join(tmpdir(), "other-"));
  mkdirSync(`${other}/postgres`);
  writeFileSync(`${other}/postgres/thesis.txt`, "years of work");
  const child = spawn(process.execPath, [checkout.devProgram, "--folder", other, "--fresh"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect(await text(child.stderr)).toContain("holds something else than a database");
  expect(readFileSync(`${other}/postgres/thesis.txt`, "utf8")).toBe("years of work");
  rmSync(other, { recursive: true });
});

test.each([
  [["--port", "x"], "--port must be a whole number"],
  [["--port", "70000"], "--port must be a whole number"],
  [["--residents", "-1"], "--residents"],
  [["--fast"], "Unknown option '--fast'"],
])("mends a wrong option %j by its message", async (args, message) => {
  const child = start(...args);
  expect(await text(child.stderr as NodeJS.ReadableStream)).toContain(message);
});
