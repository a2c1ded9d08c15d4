import { existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../infra/build/build.ts";

/** Builds the bundles, once in a run: the projects of a run are set up one after the other. */
export const buildBundles = async (): Promise<void> => {
  const done = join(tmpdir(), "built");
  if (existsSync(done)) return;
  await build();
  writeFileSync(done, "");
};
