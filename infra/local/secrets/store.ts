import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";
import { type SecretName, type SecretValue, secretTable } from "#lib/secrets/table/table.ts";
import { secretsPrefix } from "../../aws/stage-names.ts";
import { localFolder, localStage } from "../dev-file.ts";

const Version = z.object({
  id: z.string(),
  /** Empty until a rotation writes it. */
  value: z.string(),
  stages: z.array(z.string()),
  createdAt: z.number(),
});
const Contents = z.record(z.string(), z.array(Version));
export type Version = z.infer<typeof Version>;

interface Selector {
  readonly versionId?: string | undefined;
  readonly stage?: string | undefined;
}

export type SecretStore = ReturnType<typeof openStore>;

/** Removes stages from the versions that lose them. */
const release = (versions: readonly Version[], stages: readonly string[]): void => {
  const isCurrent = stages.includes("AWSCURRENT");
  for (const version of versions) {
    const wasCurrent = version.stages.includes("AWSCURRENT");
    version.stages = version.stages.filter(
      (stage) => !stages.includes(stage) && !(isCurrent && stage === "AWSPREVIOUS"),
    );
    if (isCurrent && wasCurrent) version.stages.push("AWSPREVIOUS");
  }
};

const read = (file: string) => {
  try {
    return Contents.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new Error(`${file} is damaged. Start with --fresh to recreate the secrets and the database.`);
  }
};

/**
 * Opens a store of secrets with versions and stages, as in Secrets Manager.
 *
 * @param file created on the first change, readable by its owner only. Undefined: in memory only.
 */
export const openStore = (file: string | undefined) => {
  const contents = file && existsSync(file) ? read(file) : {};
  const save = () => {
    if (!file) return;
    writeFileSync(`${file}.partial`, JSON.stringify(contents, null, 2), { mode: 0o600 });
    renameSync(`${file}.partial`, file);
  };
  /** Adds a version. A new AWSCURRENT makes the previous one AWSPREVIOUS. */
  const add = (name: string, id: string, value: string, stages: readonly string[]): Version => {
    const version = { id, value, stages: [...stages], createdAt: Date.now() / 1_000 };
    const others = (contents[name] ?? []).filter((other) => other.id !== id);
    release(others, stages);
    contents[name] = [...others.filter((other) => other.stages.length > 0), version];
    save();
    return version;
  };
  /** In memory only: what runs on one machine reads none. */
  const tags: Record<string, Record<string, string>> = {};
  const find = (name: string, { versionId, stage }: Selector = {}): Version | undefined =>
    contents[name]?.find(
      ({ id, value, stages }) =>
        value !== "" && (versionId ? id === versionId : stages.includes(stage ?? "AWSCURRENT")),
    );
  return {
    /** Finds a version that has a value, by default the one with the stage AWSCURRENT. */
    find,
    /** Lists the names of all secrets. */
    names: (): string[] => Object.keys(contents),
    /** Lists the versions that have a stage. @returns undefined if there is no such secret. */
    list: (name: string): readonly Version[] | undefined => contents[name],
    put: (
      name: string,
      value: string,
      { stages = ["AWSCURRENT"], id = randomUUID() }: { stages?: readonly string[]; id?: string } = {},
    ): Version => add(name, id, value, stages),
    /** Returns the current value, which is created if there is none. */
    getOrCreate: (name: string, create: () => string): string =>
      (find(name) ?? add(name, randomUUID(), create(), ["AWSCURRENT"])).value,
    tags: (name: string): Readonly<Record<string, string>> => tags[name] ?? {},
    tag(name: string, key: string, value: string) {
      tags[name] = { ...tags[name], [key]: value };
    },
    /** Creates a secret without a value, as a template does. */
    create(name: string) {
      contents[name] ??= [];
      save();
    },
    /** Creates a version AWSPENDING without a value, like the start of a rotation. @returns its ID. */
    begin: (name: string): string => add(name, randomUUID(), "", ["AWSPENDING"]).id,
    /** Moves a stage to another version. A new AWSCURRENT makes the previous one AWSPREVIOUS. */
    move(name: string, stage: string, toId: string) {
      const versions = contents[name] ?? [];
      const to = versions.find(({ id }) => id === toId);
      if (!to || to.stages.includes(stage)) return;
      const others = versions.filter((version) => version !== to);
      release(others, [stage]);
      to.stages = [...to.stages.filter((held) => !(stage === "AWSCURRENT" && held === "AWSPREVIOUS")), stage];
      contents[name] = [...others.filter(({ stages }) => stages.length > 0), to];
      save();
    },
  };
};

/** Secrets that exist only locally. */
type LocalName = "database/superuser" | "demo-passwords" | "demo-api-key" | "demo-operator";

export const localSecretName = (name: SecretName | LocalName): string =>
  `${secretsPrefix(localStage)}${name}`;

/** Reads a secret from a store, by default from that of the running `npm run dev`. */
export const readLocalSecret = <N extends SecretName>(
  name: N,
  store = openStore(`${localFolder}/secrets.json`),
): SecretValue<N> => {
  const value = JSON.parse(store.find(localSecretName(name))?.value ?? "null");
  return z.parse<z.ZodMiniType>(secretTable[name].schema(), value) as SecretValue<N>;
};
