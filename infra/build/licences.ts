import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** libvips names the licences of its parts in its README. */
const licenceFiles = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License", "README.md"];

/** The folders of the packages that these files belong to. */
const listPackages = (files: readonly string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
};

/** The folders of the packages that npm has installed for the image. */
const listImagePackages = (root: string): string[] => {
  const lock = readFileSync(`${root}infra/image/node_modules/.package-lock.json`, "utf8");
  return Object.keys(JSON.parse(lock).packages).map((folder) => `infra/image/${folder}`);
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
 * Writes the packages in a bundle and those beside it in the image, with the texts of their licences: distributing
 * an image requires them.
 *
 * @param files in the bundle, relative to `root`.
 * @param root folder of `node_modules`, with its final slash.
 */
export const writeLicences = (files: readonly string[], root: string, file: string): void =>
  writeFileSync(
    file,
    [...listPackages(files), ...listImagePackages(root)]
      .map((folder) => describe(root, folder))
      .join(`\n${"-".repeat(80)}\n\n`),
  );
