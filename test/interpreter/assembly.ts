import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly DependsOn?: string | readonly string[];
  readonly Condition?: string;
}

/** A CloudFormation template of the cloud assembly. */
interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs?: Readonly<Record<string, { Value: unknown; Export?: { Name: unknown } }>>;
  readonly Parameters?: Readonly<Record<string, { Default?: unknown }>>;
  readonly Mappings?: Readonly<Record<string, Record<string, Record<string, unknown>>>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
}

export interface AssemblyStack {
  readonly name: string;
  readonly template: Template;
  /** Folders of the assembly, by where `cdk deploy` uploads them: `bucket/key`, with placeholders in braces. */
  readonly assets: ReadonlyMap<string, string>;
}

interface AssetManifest {
  readonly files?: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string };
        readonly destinations: Readonly<Record<string, { bucketName: string; objectKey: string }>>;
      }
    >
  >;
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8"));

const readAssets = (folder: string, stackName: string): Map<string, string> => {
  const { files = {} } = readJson<AssetManifest>(join(folder, `${stackName}.assets.json`));
  return new Map(
    Object.values(files).flatMap(({ source, destinations }) =>
      Object.values(destinations).map(
        ({ bucketName, objectKey }) => [`${bucketName}/${objectKey}`, resolve(folder, source.path)] as const,
      ),
    ),
  );
};

interface Manifest {
  readonly artifacts: Readonly<
    Record<
      string,
      { readonly type: string; readonly properties: { templateFile: string; stackName?: string } }
    >
  >;
}

/** Every stack of a cloud assembly: what `cdk synth` leaves for `cdk deploy`. */
export const readAssembly = (folder: string): AssemblyStack[] =>
  Object.entries(readJson<Manifest>(join(folder, "manifest.json")).artifacts)
    .filter(([, { type }]) => type === "aws:cloudformation:stack")
    .map(([id, { properties }]) => ({
      name: properties.stackName ?? id,
      template: readJson(join(folder, properties.templateFile)),
      assets: readAssets(folder, id),
    }));
