import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";

/** A file that runs once: in a transaction (`do`), or statement by statement without one (`concurrently`). */
export interface Migration {
  readonly file: string;
  readonly version: number;
  readonly kind: "do" | "concurrently";
  readonly subject: string;
  readonly text: string;
  readonly checksum: string;
}

/** A file of functions, which runs again whenever it has changed. */
export interface FunctionFile {
  /** Schema and noun, such as `employee/session`. */
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** Names of its functions, with their schema. */
  readonly creates: ReadonlySet<string>;
}

const read = (path: string) => {
  const text = readFileSync(path, "utf8");
  return { text, checksum: createHash("md5").update(text).digest("hex") };
};

/**
 * Lists the versioned files of a folder in their order.
 *
 * @param folder with a trailing slash.
 * @throws Error for a folder without any, a name that is not `NNNN.do|concurrently.<subject>.sql`, and a number that two have.
 */
export const listMigrations = (folder: string): Migration[] => {
  const files = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  if (files.length === 0) throw new Error(`no migrations found in ${folder}`);
  const migrations = files.map((file) => {
    const [, version, kind, subject = ""] = /^(\d{4})\.(do|concurrently)\.([\w-]+)\.sql$/.exec(file) ?? [];
    if (kind !== "do" && kind !== "concurrently")
      throw new Error(
        `${folder}${file} is not named NNNN.do.<subject>.sql or NNNN.concurrently.<subject>.sql`,
      );
    return { file, version: Number(version), kind, subject, ...read(folder + file) } as const;
  });
  for (const [index, { file, version }] of migrations.entries())
    if (migrations[index + 1]?.version === version)
      throw new Error(`${file} has the number of ${migrations[index + 1]?.file}`);
  return migrations;
};

/**
 * Lists the files of functions, each after those whose functions it calls.
 *
 * @param folder with a trailing slash; it may be absent.
 * @throws Error for a function that is in two files.
 */
export const listFunctionFiles = (folder: string): FunctionFile[] => {
  const home = new Map<string, FunctionFile>();
  const files = globSync("*/*.sql", { cwd: folder })
    .toSorted()
    .map((path) => {
      const { text, checksum } = read(folder + path);
      const name = path.replaceAll("\\", "/").replace(/\.sql$/, "");
      const created = text.matchAll(/^create or replace (?:function|procedure) (\w+\.\w+)/gim);
      const file = { name, text, checksum, creates: new Set([...created].map(([, fn = ""]) => fn)) };
      for (const fn of file.creates) {
        if (home.has(fn))
          throw new Error(`${fn} is in ${home.get(fn)?.name} and in ${name}: leave it in one file`);
        home.set(fn, file);
      }
      return file;
    });
  const ordered = new Set<FunctionFile>();
  const begun = new Set<FunctionFile>();
  const add = (file: FunctionFile): void => {
    // functions that call each other are in PL/pgSQL, where the order does not matter
    if (begun.has(file)) return;
    begun.add(file);
    for (const [called] of file.text.matchAll(/\b\w+\.\w+/g)) {
      const other = home.get(called);
      if (other) add(other);
    }
    ordered.add(file);
  };
  files.forEach(add);
  return [...ordered];
};
