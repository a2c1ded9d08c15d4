import { once } from "node:events";
import { createWriteStream, rmSync, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { formatRecord } from "#lib/import/csv.ts";
import type { Refusal } from "#lib/import/table.ts";

/**
 * The report of refused rows: a CSV file with line, reason and the fields as they came, so that mended
 * rows can be imported from it. It holds personal data: only its owner may read it.
 */
export class RefusalReport {
  readonly #file: string;
  readonly #headers: readonly string[];
  #stream: WriteStream | undefined;

  /** A report of an earlier run is removed; a new file is made with the first refusal. */
  constructor(file: string, headers: readonly string[]) {
    this.#file = file;
    this.#headers = headers;
    rmSync(file, { force: true });
  }

  async write(refusals: readonly Refusal[]): Promise<void> {
    const stream = this.#open();
    const lines = refusals.map(({ line, reason, fields, text }) => {
      const whole = fields?.length === this.#headers.length;
      const columns = whole ? fields : this.#headers.map(() => "");
      return formatRecord([String(line), reason, ...columns, whole ? "" : text]);
    });
    if (!stream.write(lines.join(""))) await once(stream, "drain");
  }

  async end(): Promise<void> {
    if (!this.#stream) return;
    this.#stream.end();
    await finished(this.#stream);
  }

  #open(): WriteStream {
    if (this.#stream) return this.#stream;
    this.#stream = createWriteStream(this.#file, { mode: 0o600 });
    this.#stream.write(formatRecord(["line", "reason", ...this.#headers, "unreadable"]));
    return this.#stream;
  }
}
