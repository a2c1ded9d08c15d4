import type postgres from "postgres";
import { Batch } from "./batch.ts";
import { type LoadCounts, storeBatch } from "./load.ts";
import type { ImportTable, Row } from "./table.ts";

const rowsPerBatch = 20_000;

/**
 * A connection with the rows that are to be stored over it. While a batch is stored another may wait and a third be
 * gathered, so that a lane has work while the reading waits for another lane.
 */
export class Lane {
  readonly counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, repeated: 0 };
  readonly #sql: postgres.Sql;
  readonly #table: ImportTable;
  #gathered = new Batch();
  /** First lines of the batches that are not stored yet, the gathered one last. */
  readonly #firstLines: number[] = [];
  /** Settles when the batch before the last that was handed over is stored. */
  #storingBefore = Promise.resolve();
  /** Settles when all that was handed over is stored. */
  #storing = Promise.resolve();
  /** Of what comes next: all of the last batch were. */
  #areLikelyNew = false;

  /** @param sql one connection (`max: 1`) of the role `municipal_importer`. */
  constructor(sql: postgres.Sql, table: ImportTable) {
    this.#sql = sql;
    this.#table = table;
  }

  /** Line of the first row that is not stored yet. */
  get unstoredLine(): number {
    return this.#firstLines[0] ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#gathered.size >= rowsPerBatch;
  }

  add(row: Row): void {
    if (this.#gathered.size === 0) this.#firstLines.push(row.line);
    this.#gathered.add(row);
  }

  /** Takes what was added to be stored. Waits while two batches are before it. @throws what storing threw. */
  async handOver(): Promise<void> {
    await this.#storingBefore;
    const batch = this.#gathered;
    this.#gathered = new Batch();
    this.#storingBefore = this.#storing;
    this.#storing = this.#storing.then(() => this.#store(batch));
    this.#storing.catch(() => {}); // told to whoever waits for it next
  }

  /** Waits for what was handed over. @throws what storing it threw. */
  settle(): Promise<void> {
    return this.#storing;
  }

  async #store(batch: Batch): Promise<void> {
    if (batch.size === 0) return;
    const stored = await storeBatch(this.#sql, this.#table, batch, this.#areLikelyNew);
    this.#areLikelyNew = stored.updated + stored.unchanged === 0;
    for (const count of ["inserted", "updated", "unchanged", "repeated"] as const)
      this.counts[count] += stored[count];
    this.#firstLines.shift();
  }
}
