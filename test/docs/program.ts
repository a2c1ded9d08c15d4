import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

const python = spawnSync("python3", ["-W", "error", "-c", "import requests, sys; print(sys.executable)"], {
  encoding: "utf8",
});

/** Where Python or its library is not installed, its examples are only parsed, as those in PHP: `examples.test.ts`. */
export const programs = [
  { language: "ts", program: process.execPath, name: "example.mts" },
  ...(python.status === 0 ? [{ language: "python", program: python.stdout.trim(), name: "example.py" }] : []),
];

export type Program = (typeof programs)[number];

export const shell: Program = { language: "sh", program: "bash", name: "example.sh" };

/** Runs an example in a folder of its own. @returns what it prints, and its exit code. */
export const runExample = async (
  { program, name }: Program,
  example: string,
  env: Readonly<Record<string, string>>,
) => {
  const folder = mkdtempSync(join(tmpdir(), "example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/${name}`, example);
  const child = spawn(program, [name], {
    cwd: folder,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
  });
  const [output, , [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { output: output.trim(), code };
};
