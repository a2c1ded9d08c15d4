import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { takeLock } from "../../infra/local/lock.ts";

const newFile = () => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "pid");
};

/** A process that tries to take the lock on request, and holds it until its input ends. */
const contend = (file: string) => {
  const child = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { takeLock } from "${import.meta.dirname}/../../infra/local/lock.ts";
     process.stdin.once("data", () => console.log("release" in takeLock("${file}")));
     process.stdin.once("end", () => process.exit());
     console.log("ready");`,
  ]);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const hear = async () => (await lines.next()).value;
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { hear, tell: () => child.stdin.write("now\n"), end: () => child.stdin.end(), kill, pid: child.pid };
};

test("one of several processes gets the lock of an ended process", async () => {
  for (let round = 0; round < 3; round += 1) {
    const file = newFile();
    writeFileSync(file, "99999999");
    const contenders = [1, 2, 3, 4].map(() => contend(file));
    for (const { hear } of contenders) expect(await hear()).toBe("ready");
    for (const { tell } of contenders) tell();
    const answers = await Promise.all(contenders.map(({ hear }) => hear()));
    expect(answers.filter((answer) => answer === "true").length).toBe(1);
    for (const { end } of contenders) end();
  }
});

test("names the process that holds the lock, and gets it once that is killed", async () => {
  const file = newFile();
  const holder = contend(file);
  expect(await holder.hear()).toBe("ready");
  holder.tell();
  expect(await holder.hear()).toBe("true");
  expect(takeLock(file)).toEqual({ holder: holder.pid });
  await holder.kill();
  const lock = takeLock(file);
  if ("holder" in lock) throw new Error("the lock outlived its process");
  expect([lock.isHeld(), takeLock(file)]).toEqual([true, { holder: process.pid }]);
  lock.release();
  expect([lock.isHeld(), existsSync(file), "release" in takeLock(file)]).toEqual([false, false, true]);
});

test("releases only its own lock", () => {
  const file = newFile();
  const lock = takeLock(file);
  expect("release" in lock).toBe(true);
  writeFileSync(file, "1");
  if ("release" in lock) lock.release();
  expect(existsSync(file)).toBe(true);
});
