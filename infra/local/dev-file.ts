import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DemoEmployee } from "./upstream/upstreams.ts";

/** Folder of everything that a running system keeps on this machine. */
export const localFolder = fileURLToPath(new URL("../../.local", import.meta.url));

/** The stage whose secrets the local system keeps. */
export const localStage = "local";

const fileIn = (folder: string) => `${folder}/dev.json`;

/** How to reach a running `npm run dev`: for tests, tools and the operator's commands. */
export interface DevFile {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly messagingBaseUrl: string;
  /** The reference page. */
  readonly docsUrl: string;
  /** Credentials of the messaging API. */
  readonly basic: { readonly username: string; readonly password: string };
  /** The messenger's page for the operator. */
  readonly consoleUrl: string;
  readonly console: { readonly username: string; readonly password: string };
  /** A number whose phone the imitated platform has, and where that is controlled; null with a real phone. */
  readonly phone: string | null;
  readonly platformUrl: string | null;
  readonly employee: DemoEmployee;
  readonly databaseUrl: string;
  /** The Secrets Manager endpoint. */
  readonly secretsUrl: string;
  /** The imitated old systems, for their moods. */
  readonly legacyAuthUrl: string;
  readonly employeeSystemUrl: string;
}

/** Written whole when the system is ready, for its owner only: it holds credentials. */
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
