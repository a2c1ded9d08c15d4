import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DemoEmployee } from "./upstream/upstreams.ts";

/** Folder for the data of the local system. */
export const localFolder = fileURLToPath(new URL("../../.local", import.meta.url));

/** Stage name of the local system, in the names of its secrets. */
export const localStage = "local";

const fileIn = (folder: string) => `${folder}/dev.json`;

/** Addresses and credentials of a running `npm run dev`, for tests, tools and the operator's commands. */
export interface DevFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly messagingBaseUrl: string;
  /** The reference page. */
  readonly docsUrl: string;
  /** Credentials of the messaging API. */
  readonly basic: { readonly username: string; readonly password: string };
  /** The messenger's console for the operator. */
  readonly consoleUrl: string;
  readonly console: { readonly username: string; readonly password: string };
  /** Number of a phone on the simulated platform, and the platform's control API; null with a real phone. */
  readonly phone: string | null;
  readonly platformUrl: string | null;
  readonly employee: DemoEmployee;
  readonly databaseUrl: string;
  /** The Secrets Manager endpoint. */
  readonly secretsUrl: string;
  /** The simulated legacy systems, whose failures can be controlled. */
  readonly legacyAuthUrl: string;
  readonly employeeSystemUrl: string;
}

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
