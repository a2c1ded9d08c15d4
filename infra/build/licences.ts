import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** libvips lists the licences of its parts in its README. */
const licenceFiles = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License", "README.md"];

const describe = (root: string, folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(`${root}${folder}/package.json`, "utf8"));
  const file = licenceFiles.find((candidate) => existsSync(`${root}${folder}/${candidate}`));
  const text = file
    ? readFileSync(`${root}${folder}/${file}`, "utf8").trim()
    : "(the package contains no licence text)";
  return `${name} ${version}: ${license}\n\n${text}\n`;
};

/**
 * Writes the licence texts of packages, which must be distributed with the image.
 *
 * @param root folder of the product's package, with its final slash.
 * @param packages folders of the packages, relative to `root`.
 */
export const writeLicences = (file: string, root: string, packages: readonly string[]): void =>
  writeFileSync(file, packages.map((folder) => describe(root, folder)).join(`\n${"-".repeat(80)}\n\n`));
