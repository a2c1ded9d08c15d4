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

type Texts = Readonly<Record<string, string>>;

/** Starts an example in a folder of its own, with files. It ends with the test. */
export const startExample = ({ program, name }: Program, example: string, env: Texts, files: Texts = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "example-"));
  for (const [file, content] of Object.entries({ ...files, [name]: example }))
    writeFileSync(`${folder}/${file}`, content);
  const child = spawn(program, [name], {
    cwd: folder,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
  });
  return child;
};

/** Runs an example in a folder of its own, with files. @returns what it prints, its errors, and its exit code. */
export const runExample = async (program: Program, example: string, env: Texts, files: Texts = {}) => {
  const child = startExample(program, example, env, files);
  const ended = [text(child.stdout), text(child.stderr), once(child, "exit")] as const;
  const [output, errors, [code]] = await Promise.all(ended);
  return { output: output.trim(), errors, code };
};
