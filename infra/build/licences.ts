import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Metafile } from "esbuild";

const licenceFiles = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License"];

/** Returns the folders of the packages in a bundle. */
const listPackages = ({ inputs }: Metafile): string[] => {
  const folders = Object.keys(inputs).map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
};

const describe = (root: string, folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(`${root}${folder}/package.json`, "utf8"));
  const file = licenceFiles.find((candidate) => existsSync(`${root}${folder}/${candidate}`));
  const text = file
    ? readFileSync(`${root}${folder}/${file}`, "utf8").trim()
    : "(the package brings no text)";
  return `${name} ${version}: ${license}\n\n${text}\n`;
};

/**
 * Lists the packages of a bundle with their licence texts, which a distributor of the image must include.
 *
 * @param root folder of `node_modules`, with its final slash.
 */
export const writeLicences = (metafile: Metafile, root: string, file: string): void =>
  writeFileSync(
    file,
    listPackages(metafile)
      .map((folder) => describe(root, folder))
      .join(`\n${"-".repeat(80)}\n\n`),
  );
