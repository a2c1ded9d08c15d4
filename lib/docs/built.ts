import { readFileSync } from "node:fs";
import { getSetting } from "#lib/config.ts";
import { withAddresses } from "#lib/openapi/addresses.ts";

/** What the build wrote for a function of the documentation, beside its bundle. */
const folder = new URL("./docs/", import.meta.url);

/** A file of the build, or undefined where there is none of this name. */
export const findBuilt = (name: string): string | undefined => {
  try {
    return readFileSync(new URL(name, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
};

/** The same with the addresses of this stage. */
export const findAddressed = (name: string): string | undefined => {
  const text = findBuilt(name);
  return (
    text &&
    withAddresses(text, {
      integration: getSetting("INTEGRATION_ADDRESS"),
      messaging: getSetting("MESSAGING_ADDRESS"),
    })
  );
};
