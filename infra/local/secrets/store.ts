import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod/mini";

const Version = z.object({
  id: z.string(),
  value: z.string(),
  stages: z.array(z.string()),
  createdAt: z.number(),
});
const Contents = z.record(z.string(), z.array(Version));
export type Version = z.infer<typeof Version>;

/** Named secrets with versions and staging labels, as Secrets Manager has them, kept in one file. */
export interface SecretStore {
  find(
    name: string,
    selector?: { versionId?: string | undefined; stage?: string | undefined },
  ): Version | undefined;
  /** Adds a version; as AWSCURRENT it moves the one before it to AWSPREVIOUS. */
  put(name: string, value: string, stages?: readonly string[]): Version;
}

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
  return {
    find: (name, { versionId, stage } = {}) =>
      contents[name]?.find(({ id, stages }) =>
        versionId ? id === versionId : stages.includes(stage ?? "AWSCURRENT"),
      ),
    put(name, value, stages = ["AWSCURRENT"]) {
      const versions = contents[name] ?? [];
      const taken = new Set(stages);
      const replacesCurrent = taken.has("AWSCURRENT");
      for (const version of versions) {
        const wasCurrent = version.stages.includes("AWSCURRENT");
        version.stages = version.stages.filter(
          (stage) => !taken.has(stage) && !(replacesCurrent && stage === "AWSPREVIOUS"),
        );
        if (replacesCurrent && wasCurrent) version.stages.push("AWSPREVIOUS");
      }
      const version = { id: randomUUID(), value, stages: [...stages], createdAt: Date.now() / 1000 };
      contents[name] = [...versions.filter((kept) => kept.stages.length > 0), version];
      save();
      return version;
    },
  };
};
