import { readFileSync } from "node:fs";
import { getSetting } from "#lib/config.ts";
import { withAddresses } from "#lib/openapi/addresses.ts";

/** The folder that the build writes beside the bundle of a documentation function. */
const folder = new URL("./docs/", import.meta.url);

/** Returns the bytes of a file of that folder, or undefined. */
export const findBytes = (name: string): Buffer | undefined => {
  try {
    return readFileSync(new URL(name, folder));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "EISDIR", "ENOTDIR"].includes(code)) return undefined;
    throw error;
  }
};

/** Returns the text of a file of that folder, or undefined. */
export const findBuilt = (name: string): string | undefined => findBytes(name)?.toString();

/** The path of the stage's API, such as `/prod`; empty if a host has none. */
export const basePath = (): string => new URL(getSetting("INTEGRATION_ADDRESS")).pathname.replace(/\/$/, "");

/** Returns a file with the addresses of this stage, or undefined. */
export const findAddressed = (name: string): string | undefined => {
  const text = findBuilt(name);
  return (
    text &&
    withAddresses(text, {
      integration: getSetting("INTEGRATION_ADDRESS"),
      messaging: getSetting("MESSAGING_ADDRESS"),
    }).replaceAll(placeholderBase, basePath())
  );
};

/** Stands in the built pages for the path of the stage's API, such as `/api` or `/prod`. */
export const placeholderBase = "/path-of-the-api";
