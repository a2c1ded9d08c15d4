import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const sources = ["functions", "infra", "lib", "package.json", "README.md", "tsconfig.json"];

/** A fresh checkout after `npm ci`: a copy of the sources, with nothing built. */
export const makeCheckout = () => {
  const folder = mkdtempSync(join(tmpdir(), "checkout-"));
  for (const name of sources) cpSync(name, `${folder}/${name}`, { recursive: true });
  symlinkSync(resolve("node_modules"), `${folder}/node_modules`);
  return {
    folder,
    /** What `npm run dev` starts. */
    devProgram: `${folder}/infra/local/dev.ts`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
