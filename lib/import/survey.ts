import { hash } from "node:crypto";
import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import { openImport } from "./file.ts";
import { HeaderError } from "./header.ts";
import { type ImportTable, keyReader, type Rejection, type Row } from "./table.ts";

/** What the whole file says about its rows. */
export interface Survey {
  /** Lines that another row with the same key makes superfluous. */
  readonly skipped: ReadonlySet<number>;
  /** Lines of rows that have one key and different values, each with another such line. */
  readonly conflicts: ReadonlyMap<number, number>;
  /** Rows without a readable key. Always 0 for a table without `whole`. */
  readonly unreadable: number;
  /** Whether a row of the file has this key, also a rejected one. For a table with `whole` only. */
  readonly hasKey: (key: string) => boolean;
}

const hashOf = (key: string): bigint => hash("sha1", key, "buffer").readBigUInt64LE();

/** For each row 16 bytes: hashes of its key and of its values, and its line. */
class RowList {
  #keys = new BigUint64Array(1_024);
  #others = new Uint32Array(2_048);
  #size = 0;
  #sorted: BigUint64Array | undefined;

  /** No row can be added after it. */
  has(key: string): boolean {
    const [sorted, wanted] = [this.#sort(), hashOf(key)];
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sorted[middle] as bigint) < wanted) from = middle + 1;
      else to = middle;
    }
    return sorted[from] === wanted;
  }

  #sort(): BigUint64Array {
    this.#sorted ??= this.#keys.slice(0, this.#size).sort();
    return this.#sorted;
  }

  add(key: string, { line, values }: Row): void {
    if (this.#size === this.#keys.length) {
      const [keys, others] = [this.#keys, this.#others];
      this.#keys = new BigUint64Array(2 * keys.length);
      this.#keys.set(keys);
      this.#others = new Uint32Array(2 * others.length);
      this.#others.set(others);
    }
    this.#keys[this.#size] = hashOf(key);
    this.#others.set([line, crc32(values.join("\0"))], 2 * this.#size);
    this.#size += 1;
  }

  /** Lists the rows of each key that occurs several times, in the order of the file. */
  *listRepeated(): Generator<readonly { line: number; content: number }[]> {
    const keys = this.#keys.subarray(0, this.#size);
    const sorted = this.#sort();
    const groups = new Map<bigint, { line: number; content: number }[]>();
    for (let i = 1; i < sorted.length; i++)
      if (sorted[i] === sorted[i - 1]) groups.set(sorted[i] as bigint, []);
    if (groups.size === 0) return;
    for (const [i, key] of keys.entries())
      groups.get(key)?.push({ line: this.#others[2 * i] ?? 0, content: this.#others[2 * i + 1] ?? 0 });
    yield* groups.values();
  }
}

/**
 * Recognises a column whose numbers a spreadsheet rounded to 15 digits, so that they end in 0. Other last digits say nothing:
 * the serial number of most is 0001. A number that follows itself counts once: a family has one number.
 */
class RoundingCheck {
  readonly #header: string;
  readonly #place: number;
  #previous = "";
  #count = 0;
  #rounded = 0;

  constructor(header: string, place: number) {
    this.#header = header;
    this.#place = place;
  }

  add({ values }: Row): void {
    const value = values[this.#place];
    if (!value || value === this.#previous) return;
    this.#previous = value;
    this.#count += 1;
    if (value.endsWith("0")) this.#rounded += 1;
  }

  /** @throws HeaderError if most of at least ten numbers end in 0. */
  end(): void {
    if (this.#count < 10 || this.#rounded * 2 <= this.#count) return;
    throw new HeaderError(
      `${this.#rounded} of ${this.#count} values of ${this.#header} end in 0: a spreadsheet rounded them, and the last digits ` +
        "are lost. Format the column as text and export the file again from its source.",
    );
  }
}

/** The keys of rejected rows, and how many have none. */
class RejectedKeys {
  readonly keys = new Set<string>();
  unreadable = 0;
  readonly #place: number;
  readonly #isKey: ((value: string) => boolean) | undefined;

  constructor({ key, columns, whole }: ImportTable) {
    this.#place = columns.findIndex(({ column }) => column === key);
    this.#isKey = whole?.isKey;
  }

  add({ values }: Rejection): void {
    if (!this.#isKey) return;
    const key = values?.[this.#place] ?? "";
    if (this.#isKey(key)) this.keys.add(key);
    else this.unreadable += 1;
  }
}

/**
 * Reads a whole file before anything of it is stored.
 *
 * @param lastWins of the rows with one key the last is stored. @throws HeaderError if it cannot be imported at all.
 */
export const surveyFile = async (input: Readable, table: ImportTable, lastWins: boolean): Promise<Survey> => {
  const readKey = keyReader(table);
  const list = new RowList();
  const checks = table.columns.flatMap(({ header, mayBeRounded }, place) =>
    mayBeRounded ? [new RoundingCheck(header, place)] : [],
  );
  const { blocks } = await openImport(input, table);
  const rejected = new RejectedKeys(table);
  for await (const { rows, rejections } of blocks) {
    for (const row of rows) {
      list.add(readKey(row), row);
      for (const check of checks) check.add(row);
    }
    for (const rejection of rejections) rejected.add(rejection);
  }
  for (const check of checks) check.end();
  const skipped = new Set<number>();
  const conflicts = new Map<number, number>();
  for (const rows of list.listRepeated()) {
    const areSame = rows.every(({ content }) => content === rows[0]?.content);
    if (areSame || lastWins) for (const { line } of rows.slice(0, -1)) skipped.add(line);
    else
      for (const { line, content } of rows)
        conflicts.set(line, rows.find((row) => row.content !== content)?.line ?? line);
  }
  const hasKey = (key: string) => list.has(key) || rejected.keys.has(key);
  return { skipped, conflicts, unreadable: rejected.unreadable, hasKey };
};
