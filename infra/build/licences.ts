import { existsSync, readFileSync, writeFileSync } from "node:fs";

const licenceFiles = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License"];

/** The folders of the packages that these files belong to. */
const listPackages = (files: readonly string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
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
 * Writes the packages in a bundle, with the texts of their licences: distributing an image requires them.
 *
 * @param files in the bundle, relative to `root`.
 * @param root folder of `node_modules`, with its final slash.
 */
export const writeLicences = (files: readonly string[], root: string, file: string): void =>
  writeFileSync(
    file,
    listPackages(files)
      .map((folder) => describe(root, folder))
      .join(`\n${"-".repeat(80)}\n\n`),
  );
