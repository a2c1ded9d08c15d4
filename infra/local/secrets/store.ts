import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";

const Version = z.object({
  id: z.string(),
  /** Empty while a rotation has begun and not yet written it. */
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

/** Named secrets with versions and staging labels, as Secrets Manager has them, kept in one file. */
export interface SecretStore {
  /** A version that has a value; of the stage AWSCURRENT unless another is asked for. */
  find(name: string, selector?: Selector): Version | undefined;
  /** Every version that has a stage, or undefined where there is no such secret. */
  list(name: string): readonly Version[] | undefined;
  /** Adds a version; as AWSCURRENT it moves the one before it to AWSPREVIOUS. */
  put(name: string, value: string, options?: { stages?: readonly string[]; id?: string }): Version;
  /** Makes a secret without a value, as a template does. */
  create(name: string): void;
  /** Makes a version AWSPENDING that has no value, as the beginning of a rotation does. @returns its id. */
  begin(name: string): string;
  /** Gives a stage to another version; as AWSCURRENT it moves the one before it to AWSPREVIOUS. */
  move(name: string, stage: string, toId: string): void;
}

/** Takes stages from every version but the one that gets them. */
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
    throw new Error(`${file} is damaged; start with --fresh, which makes new secrets and a new database`);
  }
};

/** @param file read when it is there; written, for its owner only, with each change. Undefined: memory only. */
export const openStore = (file: string | undefined): SecretStore => {
  const contents = file && existsSync(file) ? read(file) : {};
  const save = () => {
    if (!file) return;
    writeFileSync(`${file}.partial`, JSON.stringify(contents, null, 2), { mode: 0o600 });
    renameSync(`${file}.partial`, file);
  };
  const add = (name: string, version: Version): Version => {
    const others = (contents[name] ?? []).filter(({ id }) => id !== version.id);
    release(others, version.stages);
    contents[name] = [...others.filter(({ stages }) => stages.length > 0), version];
    save();
    return version;
  };
  const make = (id: string, value: string, stages: readonly string[]): Version => ({
    id,
    value,
    stages: [...stages],
    createdAt: Date.now() / 1000,
  });
  return {
    find: (name, { versionId, stage } = {}) =>
      contents[name]?.find(
        ({ id, value, stages }) =>
          value !== "" && (versionId ? id === versionId : stages.includes(stage ?? "AWSCURRENT")),
      ),
    list: (name) => contents[name],
    put: (name, value, { stages = ["AWSCURRENT"], id = randomUUID() } = {}) =>
      add(name, make(id, value, stages)),
    create(name) {
      contents[name] ??= [];
      save();
    },
    begin: (name) => add(name, make(randomUUID(), "", ["AWSPENDING"])).id,
    move(name, stage, toId) {
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
