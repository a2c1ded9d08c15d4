import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const source = fileURLToPath(new URL("../../lib/db/", import.meta.url));

/** A folder of migrations and functions that a test may change; its name contains glob characters. */
const createFolder = () => {
  const folder = `${mkdtempSync(`${tmpdir()}/mig [1] {a,b} (x)-`)}/`;
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    read: (path: string) => readFileSync(folder + path, "utf8"),
    write(path: string, text: string) {
      mkdirSync(dirname(folder + path), { recursive: true });
      writeFileSync(folder + path, text);
    },
    remove: (path: string) => rmSync(folder + path),
  };
};

/** A copy of the product's. */
export const copyMigrations = () => {
  const copy = createFolder();
  for (const part of ["tables", "functions"]) cpSync(source + part, copy.folder + part, { recursive: true });
  return copy;
};

/** Others than the product's. @param files texts by path. */
export const writeMigrations = (files: Readonly<Record<string, string>>) => {
  const written = createFolder();
  for (const [path, text] of Object.entries(files)) written.write(path, text);
  return written;
};
