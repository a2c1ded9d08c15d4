import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { formatRecord } from "#lib/import/csv.ts";
import type { Rejection } from "#lib/import/table.ts";
import { CommandError } from "./command.ts";

const added = ["line", "reason", "unreadable"];

/**
 * The report of rejected rows: a CSV file with line, reason and the original fields, so that corrected rows can be
 * imported from it. It contains personal data, so only its owner may read it.
 */
export class RejectionReport {
  readonly #file: string;
  /** Columns of the file. */
  readonly #width: number;
  /** Those that are written, with their places in the file. */
  readonly #columns: readonly { readonly header: string; readonly place: number }[];
  readonly #counts = new Map<string, number>();
  #descriptor: number | undefined;

  /** Removes the report of an earlier run; the first rejection creates a new file. */
  constructor(file: string, headers: readonly string[]) {
    this.#file = file;
    // a corrected report has them
    this.#columns = headers
      .map((header, place) => ({ header, place }))
      .filter(({ header }) => !added.includes(header));
    this.#width = headers.length;
    this.#attempt(() => rmSync(file, { force: true }));
  }

  /** Returns how many rows violate each rule, the most frequent first. A row may violate several. */
  sum(): readonly { readonly reason: string; readonly count: number }[] {
    return [...this.#counts]
      .map(([reason, count]) => ({ reason, count }))
      .toSorted((a, b) => b.count - a.count);
  }

  /** @throws CommandError when the file cannot be written. */
  write(rejections: readonly Rejection[]): void {
    for (const written of rejections.flatMap(({ reason }) => reason.split("; "))) {
      const reason = written.replace(/ line \d+/, " another line");
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    }
    const lines = rejections.map(({ line, reason, fields, text }) => {
      const whole = fields !== undefined && fields.slice(this.#width).join("").trim() === "";
      const columns = this.#columns.map(({ place }) => (whole && fields[place]) || "");
      return formatRecord([String(line), reason, ...columns, whole ? "" : text]);
    });
    this.#attempt(() => writeSync(this.#open(), lines.join("")));
  }

  end(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #open(): number {
    if (this.#descriptor !== undefined) return this.#descriptor;
    this.#descriptor = openSync(this.#file, "wx", 0o600);
    writeSync(
      this.#descriptor,
      formatRecord(["line", "reason", ...this.#columns.map(({ header }) => header), "unreadable"]),
    );
    return this.#descriptor;
  }

  #attempt(work: () => unknown) {
    try {
      work();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new CommandError(`Import stopped: the report ${this.#file} cannot be written (${code}).`);
    }
  }
}
