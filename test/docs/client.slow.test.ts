import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { redocly } from "../steps/redocly.ts";
import { readBlocks, readGuideText } from "../steps/shell-lines.ts";

const start = async (cwd: string, program: string, args: string[], env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code, stdout, output: `${stdout}${stderr}` };
};

/** A folder with the document of the running city and the client made of it. */
const generate = async () => {
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const document = await fetch(`${inject("city").baseUrl}/openapi.json`);
  writeFileSync(`${folder}/openapi.json`, await document.text());
  const client = `${folder}/client.ts`;
  const { code, output } = await redocly(
    "generate-client",
    `${folder}/openapi.json`,
    "-o",
    client,
    "--import-ext",
    "ts",
  );
  expect(code, output).toBe(0);
  symlinkSync(resolve("node_modules"), `${folder}/node_modules`);
  writeFileSync(`${folder}/package.json`, '{"type": "module"}');
  return folder;
};

const compile = (folder: string) =>
  start(folder, resolve("node_modules/typescript/bin/tsc"), [
    ...[
      "--noEmit",
      "--strict",
      "--target",
      "es2024",
      "--module",
      "nodenext",
      "--lib",
      "es2024,dom,dom.iterable",
    ],
    ...["--types", "node", "--allowImportingTsExtensions", "--noUncheckedIndexedAccess", "example.ts"],
  ]);

const example =
  readBlocks(readGuideText("en", "app-builder")).find(({ language }) => language === "ts")?.text ?? "";

test("the guide's ten lines compile with the client generated from the document, and run", async () => {
  expect(example.trim().split("\n").length).toBeLessThanOrEqual(10);
  const folder = await generate();
  writeFileSync(`${folder}/example.ts`, example);
  const compiled = await compile(folder);
  expect(compiled.code, compiled.output).toBe(0);
  const { username, password } = inject("city").employee;
  const ran = await start(folder, "example.ts", [], {
    EMPLOYEE_USERNAME: username,
    EMPLOYEE_PASSWORD: password,
  });
  expect(ran.code, ran.output).toBe(0);
  expect(ran.stdout).toMatch(/peg_nip_baru: '\d{18}'/);
});

test("unknown parameters, other values of fixed ones and unknown answer fields do not compile", async () => {
  const folder = await generate();
  for (const wrong of [
    'await readEmployees({ query: { parameters: { nama: "siti" } } });',
    'await readEmployees({ query: { page: "1" } });',
    "(await listCategories()).data[0]?.name;",
  ]) {
    writeFileSync(
      `${folder}/example.ts`,
      `import { listCategories, readEmployees } from './client.ts';\n${wrong}\n`,
    );
    const { code, output } = await compile(folder);
    expect(code, wrong).not.toBe(0);
    expect(output).toMatch(/^example\.ts\(2,/m);
  }
});
