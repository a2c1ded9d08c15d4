import type postgres from "postgres";
import { type Measure, measureOf } from "../result.ts";
import { percentile, timed } from "../timing.ts";
import { findReason } from "./slow-by-design.ts";

/** What is measured: a call of the product that ends when its statements have. */
export interface Case {
  readonly name: string;
  /** @param turn counted from 0. */
  readonly run: (turn: number) => PromiseLike<unknown>;
  /** Not measured, before each turn. */
  readonly before?: (turn: number) => PromiseLike<unknown>;
  /** Not measured, after each turn. */
  readonly after?: (turn: number) => PromiseLike<unknown>;
  /** At most so many turns, of what changes many rows. */
  readonly most?: number;
}

export interface Row {
  readonly statement: string;
  readonly "p50 ms": number;
  readonly "p99 ms": number;
  readonly samples: number;
  /** Why it may take longer than the limit; empty for those that may not. */
  readonly "slow by design": string;
  readonly spread: Measure;
}

/** Plans of prepared statements become generic with the sixth execution. */
const warmUps = 6;

export const rowOf = (statement: string, times: readonly number[]): Row => {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    statement,
    "p50 ms": percentile(sorted, 0.5),
    "p99 ms": percentile(sorted, 0.99),
    samples: sorted.length,
    "slow by design": findReason(statement) ?? "",
    spread: measureOf(times),
  };
};

/** Runs a case so often. Of a single sample, the first call is not measured either. */
export const measureCase = async (
  { name, run, before, after, most = Number.POSITIVE_INFINITY }: Case,
  samples: number,
): Promise<Row> => {
  const turns = Math.min(samples, most);
  const cold = Math.min(warmUps, turns);
  const times: number[] = [];
  for (let turn = 0; turn < cold + turns; turn++) {
    await before?.(turn);
    const ms = await timed(() => run(turn));
    await after?.(turn);
    if (turn >= cold) times.push(ms);
  }
  return rowOf(name, times);
};

const rolledBack = new Error("rolled back");

/** Measures what must change nothing, inside a transaction that is rolled back. The commit is not measured. */
export const withoutEffect = (
  sql: postgres.Sql,
  {
    name,
    run,
    before,
    most,
  }: Omit<Case, "run" | "before" | "after"> & {
    readonly run: (sql: postgres.Sql, turn: number) => PromiseLike<unknown>;
    /** Not measured: what the call finds. */
    readonly before?: (sql: postgres.Sql, turn: number) => PromiseLike<unknown>;
  },
): ((samples: number) => Promise<Row>) => {
  return async (samples) => {
    const turns = Math.min(samples, most ?? Number.POSITIVE_INFINITY);
    const cold = Math.min(warmUps, turns);
    const times: number[] = [];
    for (let turn = 0; turn < cold + turns; turn++)
      await sql
        .begin(async (transaction) => {
          // of the product's functions, none begins a transaction of its own here
          const inside = transaction as unknown as postgres.Sql;
          await before?.(inside, turn);
          const ms = await timed(() => run(inside, turn));
          if (turn >= cold) times.push(ms);
          throw rolledBack;
        })
        .catch((error: unknown) => {
          if (error !== rolledBack) throw error;
        });
    return rowOf(name, times);
  };
};

/** The first words of a statement. */
const nameOf = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 90);

/**
 * Wraps a connection so that each of its statements is timed, for work of the product that is made of several.
 *
 * @returns the connection, and a function that returns the times of each statement so far.
 */
export const watch = (sql: postgres.Sql) => {
  const times = new Map<string, number[]>();
  const watched = new Proxy(sql, {
    apply(target, self, args: unknown[]) {
      const query: unknown = Reflect.apply(target, self, args);
      // a fragment is never awaited, and no statement
      if (!(query instanceof Promise)) return query;
      const then = query.then.bind(query);
      // biome-ignore lint/suspicious/noThenProperty: the driver sends a statement when it is awaited
      query.then = (done, failed) => {
        const started = performance.now();
        const record = (rows: { statement?: { string: string } }) => {
          const name = nameOf(rows.statement?.string ?? "");
          times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
          return rows;
        };
        return then(record).then(done, failed);
      };
      return query;
    },
  });
  return {
    watched,
    rows: (prefix: string) => [...times].map(([name, all]) => rowOf(`${prefix}: ${name}`, all)),
  };
};
