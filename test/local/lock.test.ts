import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { takeLock } from "../../infra/local/lock.ts";

const newFile = () => {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "pid");
};

/** A process that takes the lock at the given time and holds it until the others have tried too. */
const contend = (file: string, at: number) =>
  spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { takeLock } from "${import.meta.dirname}/../../infra/local/lock.ts";
     while (Date.now() < ${at});
     console.log("release" in takeLock("${file}", "lock.ts"));
     setTimeout(() => {}, 600);`,
  ]);

test("one of several at once gets the lock of a process that is gone", async () => {
  for (let round = 0; round < 3; round += 1) {
    const file = newFile();
    writeFileSync(file, "99999999");
    const at = Date.now() + 700;
    const answers = await Promise.all([1, 2, 3, 4].map(() => text(contend(file, at).stdout)));
    expect(answers.filter((answer) => answer.trim() === "true").length).toBe(1);
  }
});

test("gives back its own lock and nobody else's", () => {
  const file = newFile();
  const lock = takeLock(file, "vitest");
  expect("release" in lock).toBe(true);
  writeFileSync(file, "1");
  if ("release" in lock) lock.release();
  expect(existsSync(file)).toBe(true);
});
