import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { DevFile } from "./announcement.ts";

/** Folder for the data of the local system: that in `LOCAL_FOLDER`, which all commands read, or `.local`. */
export const localFolder = resolve(
  process.env.LOCAL_FOLDER || fileURLToPath(new URL("../../.local", import.meta.url)),
);

/** Stage name of the local system, in the names of its secrets. */
export const localStage = "local";

const fileIn = (folder: string) => `${folder}/dev.json`;

/** Writes the file atomically, readable by its owner only, because it contains credentials. */
export const writeDevFile = (folder: string, contents: DevFile): void => {
  const file = fileIn(folder);
  writeFileSync(`${file}.partial`, `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.partial`, file);
};

export const findDevFile = (folder: string): DevFile | undefined => {
  const file = fileIn(folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as DevFile) : undefined;
};

export const removeDevFile = (folder: string): void => rmSync(fileIn(folder), { force: true });
