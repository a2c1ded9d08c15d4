import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** libvips lists the licences of its parts in its README. */
const licenceFiles = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License", "README.md"];

/** Lists the package folders that contain these files. */
const listPackages = (files: readonly string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
};

/** Lists the package folders that are installed in the image. */
const listImagePackages = (root: string): string[] => {
  const lock = readFileSync(`${root}infra/image/node_modules/.package-lock.json`, "utf8");
  return Object.keys(JSON.parse(lock).packages).map((folder) => `infra/image/${folder}`);
};

const describe = (root: string, folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(`${root}${folder}/package.json`, "utf8"));
  const file = licenceFiles.find((candidate) => existsSync(`${root}${folder}/${candidate}`));
  const text = file
    ? readFileSync(`${root}${folder}/${file}`, "utf8").trim()
    : "(the package contains no licence text)";
  return `${name} ${version}: ${license}\n\n${text}\n`;
};

/**
 * Writes the licence texts of the packages in the bundle and in the image, which must be distributed with the image.
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
