import type postgres from "postgres";
import { Batch } from "./batch.ts";
import { type LoadCounts, storeBatch } from "./load.ts";
import type { ImportTable, Row } from "./table.ts";

const rowsPerBatch = 20_000;

/** A connection with the rows that are to be stored over it: a batch is stored while the next is gathered. */
export class Lane {
  readonly counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, repeated: 0 };
  readonly #sql: postgres.Sql;
  readonly #table: ImportTable;
  #batch = new Batch();
  #firstLine: number | undefined;
  /** Settles when what was handed over is stored. */
  #storing = Promise.resolve();
  #lineUnderWay: number | undefined;
  /** Of what comes next: all of the last batch were. */
  #areLikelyNew = false;

  /** @param sql one connection (`max: 1`) of the role `municipal_importer`. */
  constructor(sql: postgres.Sql, table: ImportTable) {
    this.#sql = sql;
    this.#table = table;
  }

  /** Line of the first row that is not stored yet. */
  get unstoredLine(): number {
    return this.#lineUnderWay ?? this.#firstLine ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#batch.size >= rowsPerBatch;
  }

  add(row: Row): void {
    this.#firstLine ??= row.line;
    this.#batch.add(row);
  }

  /** Begins to store what was added, after what is under way. @throws what storing that threw. */
  async handOver(): Promise<void> {
    await this.#storing;
    this.#storing = this.#store(this.#batch);
    this.#storing.catch(() => {}); // told to whoever waits for it next
    this.#batch = new Batch();
    this.#firstLine = undefined;
  }

  /** Waits for what was handed over. @throws what storing it threw. */
  settle(): Promise<void> {
    return this.#storing;
  }

  async #store(batch: Batch): Promise<void> {
    if (batch.size === 0) return;
    this.#lineUnderWay = this.#firstLine;
    const stored = await storeBatch(this.#sql, this.#table, batch, this.#areLikelyNew);
    this.#areLikelyNew = stored.updated + stored.unchanged === 0;
    for (const count of ["inserted", "updated", "unchanged", "repeated"] as const)
      this.counts[count] += stored[count];
    this.#lineUnderWay = undefined;
  }
}
