import type postgres from "postgres";
import { type LoadCounts, storeBatch } from "./load.ts";
import type { ImportTable, Row } from "./table.ts";

const rowsPerBatch = 20_000;

/** A connection with the rows that are to be stored over it: a batch is stored while the next is gathered. */
export class Lane {
  readonly counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, repeated: 0 };
  readonly #sql: postgres.Sql;
  readonly #table: ImportTable;
  #rows: Row[] = [];
  /** Settles when what was handed over is stored. */
  #storing = Promise.resolve();
  #lineUnderWay: number | undefined;

  /** @param sql one connection (`max: 1`) of the role `municipal_importer`. */
  constructor(sql: postgres.Sql, table: ImportTable) {
    this.#sql = sql;
    this.#table = table;
  }

  /** Line of the first row that is not stored yet. */
  get unstoredLine(): number {
    return this.#lineUnderWay ?? this.#rows[0]?.line ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#rows.length >= rowsPerBatch;
  }

  add(row: Row): void {
    this.#rows.push(row);
  }

  /** Begins to store what was added, after what is under way. @throws what storing that threw. */
  async handOver(): Promise<void> {
    await this.#storing;
    this.#storing = this.#store(this.#rows);
    this.#storing.catch(() => {}); // told to whoever waits for it next
    this.#rows = [];
  }

  /** Waits for what was handed over. @throws what storing it threw. */
  settle(): Promise<void> {
    return this.#storing;
  }

  async #store(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    this.#lineUnderWay = rows[0]?.line;
    const stored = await storeBatch(this.#sql, this.#table, rows);
    for (const count of ["inserted", "updated", "unchanged", "repeated"] as const)
      this.counts[count] += stored[count];
    this.#lineUnderWay = undefined;
  }
}
