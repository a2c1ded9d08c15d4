import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { useDevProgram } from "./dev-program.ts";

/** It starts the whole system twice. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { checkout, folder, devFile, start, startReady, serverPid, isAlive, listResidents } = useDevProgram();

/** Runs the shell blocks of README's section. */
const firstCalls = (settings: Readonly<Record<string, string>>) => {
  const [, section = ""] = readFileSync("README.md", "utf8").split("## First calls\n");
  const blocks = section.split("\n## ", 1)[0]?.matchAll(/^```sh\n([\s\S]*?)^```$/gm) ?? [];
  const script = [...blocks].map(([, block]) => block).join("");
  const PATH = [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  return spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8", env: { PATH, ...settings } });
};

describe("while it runs", () => {
  let child: ChildProcess;
  beforeAll(async () => {
    child = await startReady();
  });

  test("accepts the key in its private file", async () => {
    expect(statSync(`${folder}/dev.json`).mode & 0o777).toBe(0o600);
    expect(Object.keys(devFile())).toEqual([
      ...["baseUrl", "apiKey", "messagingBaseUrl", "docsUrl", "basic", "consoleUrl", "console", "phone"],
      ...["platformUrl", "employee", "databaseUrl", "secretsUrl", "legacyAuthUrl", "employeeSystemUrl"],
    ]);
    expect(Object.keys(devFile().employee)).toEqual(["username", "password", "nip", "passphrase"]);
    expect((await listResidents()).total).toBe(30);
    for (const path of ["/docs", "/docs/paging", "/openapi.json"])
      expect([path, (await fetch(`${devFile().baseUrl}${path}`)).status]).toEqual([path, 200]);
  });

  test("answers README's first calls, each with a line, and the message has arrived", () => {
    const { status, stdout, stderr } = firstCalls({ LOCAL_FOLDER: folder });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(6);
    expect(answers[4]).toMatchObject({ status: true, data: { status: "PENDING" } });
    expect(answers[5]).toMatchObject({ id: answers[4].data.id, text: "*Halo* _dari_ kota" });
  });

  test("is said not to run by the first calls of a folder without it", () => {
    const { stdout, stderr } = firstCalls({ LOCAL_FOLDER: `${folder}/none` });
    expect(stdout.trim()).toBe("");
    expect([...new Set(stderr.trim().split("\n"))]).toEqual(["npm run dev is not running"]);
  });

  test("says that its messenger has ended, and starts it again", async () => {
    const isUp = () =>
      fetch(`${devFile().consoleUrl}/`).then(
        () => true,
        () => false,
      );
    const said: string[] = [];
    child.stderr?.on("data", (chunk: Buffer) => said.push(chunk.toString()));
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ");
    const isMessenger = (pid: string) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--max-semi-space-size=4");
    for (const pid of children.filter(isMessenger)) process.kill(Number(pid), "SIGKILL");
    await expect.poll(() => said.join("")).toContain("the messenger has ended; starting it again");
    await expect.poll(isUp, { timeout: 30_000 }).toBe(true);
  });

  test("does not run twice in one folder", async () => {
    expect(await text(start().stderr as NodeJS.ReadableStream)).toContain("is already running");
    expect((await listResidents()).total).toBe(30);
  });

  test("reloads a guide and a function after a change", { timeout: 240_000 }, async () => {
    const address = `${devFile().baseUrl}/docs/paging`;
    const guide = `${checkout.folder}/lib/docs/guides/en/paging.md`;
    writeFileSync(guide, `${readFileSync(guide, "utf8")}\nA line that was not there.\n`);
    await expect
      .poll(async () => (await fetch(address)).text(), { timeout: 110_000 })
      .toContain("A line that was not there.");
    const fn = `${checkout.folder}/functions/docs/file.ts`;
    const before = readFileSync(fn, "utf8");
    writeFileSync(fn, `${before}\nthrow new Error("does not start");\n`);
    await expect.poll(async () => (await fetch(address)).status, { timeout: 110_000 }).not.toBe(200);
    writeFileSync(fn, before);
  });

  test("keeps its data and key after a kill and a restart, while the database keeps running", async () => {
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

  test("leaves nothing behind after SIGTERM, also when its output is closed", async () => {
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
