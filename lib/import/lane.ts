import type postgres from "postgres";
import { Batch } from "./batch.ts";
import { type End, type LoadCounts, storeBatch } from "./load.ts";
import type { ImportTable, Row } from "./table.ts";

const rowsPerBatch = 20_000;

/**
 * One connection and its queue of rows. While one batch is being stored, a second may wait and a third be filled,
 * so that a lane stays busy while the reader waits for another lane.
 */
export class Lane {
  readonly counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, blank: 0 };
  readonly #sql: postgres.Sql;
  readonly #table: ImportTable;
  readonly #end: End;
  #filling = new Batch();
  /** First lines of the batches that are not stored yet, the filling one last. */
  readonly #firstLines: number[] = [];
  /** Settles when the last submitted batch but one is stored. */
  #storingPrevious = Promise.resolve();
  /** Settles when all submitted batches are stored. */
  #storing = Promise.resolve();
  /** Whether all rows of the last batch were new. */
  #areLikelyNew = false;

  /** @param sql one connection (`max: 1`) of the role `municipal_importer`. */
  constructor(sql: postgres.Sql, table: ImportTable, end: End) {
    this.#sql = sql;
    this.#table = table;
    this.#end = end;
  }

  /** Line of the first row that is not stored yet. */
  get unstoredLine(): number {
    return this.#firstLines[0] ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#filling.size >= rowsPerBatch;
  }

  add(row: Row): void {
    if (this.#filling.size === 0) this.#firstLines.push(row.line);
    this.#filling.add(row);
  }

  /** Queues the added rows for storing. Waits while two batches are ahead. @throws the error of an earlier batch. */
  async submit(): Promise<void> {
    await this.#storingPrevious;
    const batch = this.#filling;
    this.#filling = new Batch();
    this.#storingPrevious = this.#storing;
    this.#storing = this.#storing.then(() => this.#store(batch));
    this.#storing.catch(() => {}); // reported by the next submit or settle
  }

  /** Waits for all submitted batches. @throws the error of the batch that failed. */
  settle(): Promise<void> {
    return this.#storing;
  }

  async #store(batch: Batch): Promise<void> {
    if (batch.size === 0) return;
    const stored = await storeBatch(this.#sql, this.#table, batch, this.#areLikelyNew, this.#end);
    this.#areLikelyNew = stored.updated + stored.unchanged === 0;
    for (const count of ["inserted", "updated", "unchanged", "blank"] as const)
      this.counts[count] += stored[count];
    this.#firstLines.shift();
  }
}
