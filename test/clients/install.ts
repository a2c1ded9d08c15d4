import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL(".", import.meta.url));

/**
 * Installs the generators in a copy of the tree that lacks them. They are a package of their own, because they need
 * TypeScript 5, and the product is checked by TypeScript 7.
 *
 * @throws Error when the registry cannot be reached.
 */
export const installPackages = (): void => {
  if (existsSync(`${folder}node_modules/orval`)) return;
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--loglevel=error", "--prefix", folder], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("test/clients could not be installed; is the registry reachable?");
};
