import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";

const { FromNodePackageJson, License } = Contrib;
const licences = new License.Factories.LicenseFactory((text) => {
  if (!/ (AND|OR|WITH) /.test(text)) throw new RangeError(`${text} is not an SPDX expression`);
});
const components = new FromNodePackageJson.Builders.ComponentBuilder(
  new FromNodePackageJson.Factories.ExternalReferenceFactory(),
  licences,
);
const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));

const readPackage = (folder: string) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));

const describe = (folder: string): Models.Component => {
  const json = readPackage(folder);
  const component = components.makeComponent(json);
  if (!component) throw new Error(`${folder}/package.json is incomplete`);
  // the name in vulnerability databases
  component.purl = `pkg:npm/${json.name.replace("@", "%40")}@${json.version}`;
  component.bomRef.value = component.purl;
  return component;
};

/**
 * Writes a software bill of materials in CycloneDX 1.6 to `dist/sbom/`. It has neither serial number nor time, so that
 * the same packages give the same file.
 *
 * @param root folder of the product's package, with its final slash.
 * @param name of the bundle or image.
 * @param packages folders of the packages that it contains, relative to `root`.
 */
export const writeSbom = (root: string, name: string, packages: readonly string[]): void => {
  const product = readPackage(root);
  const bom = new Models.Bom();
  bom.metadata.component = new Models.Component(Enums.ComponentType.Application, `${product.name}-${name}`, {
    version: product.version,
    bomRef: name,
  });
  // a package may be installed in two folders
  const described = packages.map((folder) => describe(`${root}${folder}`));
  for (const component of new Map(described.map((one) => [one.purl, one])).values())
    bom.components.add(component);
  mkdirSync(`${root}dist/sbom`, { recursive: true });
  writeFileSync(
    `${root}dist/sbom/${name}.cdx.json`,
    serializer.serialize(bom, { sortLists: true, space: 2 }),
  );
};
