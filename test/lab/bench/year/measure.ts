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
  /**
   * Of the processor time of the connection, which other programs affect less, without that of parallel workers; empty where a
   * call opens a connection of its own.
   */
  readonly "CPU p50 ms": number | "";
  readonly "CPU p99 ms": number | "";
  readonly samples: number;
  /** Why it may take longer than the limit; empty for those that may not. */
  readonly "slow by design": string;
  readonly spread: Measure;
}

/** A case ends after so long, once it has the least number of samples. */
const longestMs = 10_000;
const leastSamples = 5;

/** Plans of prepared statements become generic with the sixth execution. */
const warmUps = 6;

/** How much is measured. */
export interface Effort {
  readonly samples: number;
  /** Finds the connections that are open. @returns a function that reads the processor time of the database in milliseconds. */
  readonly openClock: () => Promise<() => number>;
}

const ascending = (times: readonly number[]) => times.toSorted((a, b) => a - b);

/** @param cpuTimes of the same runs, where they are known. */
export const rowOf = (statement: string, times: readonly number[], cpuTimes: readonly number[] = []): Row => {
  const [sorted, cpu] = [ascending(times), ascending(cpuTimes)];
  const isKnown = cpu.some((ms) => ms > 0);
  return {
    statement,
    "p50 ms": percentile(sorted, 0.5),
    "p99 ms": percentile(sorted, 0.99),
    "CPU p50 ms": isKnown ? percentile(cpu, 0.5) : "",
    "CPU p99 ms": isKnown ? percentile(cpu, 0.99) : "",
    samples: sorted.length,
    "slow by design": findReason(statement) ?? "",
    spread: measureOf(isKnown ? cpu : times),
  };
};

/**
 * Calls `turn` so often, first some times that are not measured: of a single sample, the first call is not measured either.
 *
 * @param turn takes the function with which it measures.
 */
const repeat = async (
  { name, most = Number.POSITIVE_INFINITY }: Pick<Case, "name" | "most">,
  { samples, openClock }: Effort,
  turn: (turn: number, measure: (work: () => PromiseLike<unknown>) => Promise<void>) => Promise<void>,
): Promise<Row> => {
  const turns = Math.min(samples, most);
  const cold = Math.min(warmUps, turns);
  const [times, cpuTimes]: [number[], number[]] = [[], []];
  const until = performance.now() + longestMs;
  let readCpu = () => 0;
  const isLate = () => times.length >= leastSamples && performance.now() > until;
  for (let made = 0; made < cold + turns && !isLate(); made++) {
    if (made === cold) readCpu = await openClock();
    await turn(made, async (work) => {
      const before = readCpu();
      const ms = await timed(work);
      if (made < cold) return;
      times.push(ms);
      cpuTimes.push(readCpu() - before);
    });
  }
  return rowOf(name, times, cpuTimes);
};

export const measureCase = (one: Case, effort: Effort): Promise<Row> =>
  repeat(one, effort, async (turn, measure) => {
    await one.before?.(turn);
    await measure(() => one.run(turn));
    await one.after?.(turn);
  });

const rolledBack = new Error("rolled back");

/** A transaction for what begins one of its own, which becomes a part of it. */
const nestable = (transaction: postgres.TransactionSql): postgres.Sql =>
  new Proxy(transaction, {
    get: (target, name) =>
      name === "begin"
        ? (work: (inside: postgres.TransactionSql) => Promise<unknown>) => target.savepoint(work)
        : Reflect.get(target, name),
  }) as unknown as postgres.Sql;

/** Measures what must change nothing, inside a transaction that is rolled back. The commit is not measured. */
export const withoutEffect = (
  sql: postgres.Sql,
  one: Pick<Case, "name" | "most"> & {
    readonly run: (sql: postgres.Sql, turn: number) => PromiseLike<unknown>;
    /** Not measured: what the call finds. */
    readonly before?: (sql: postgres.Sql, turn: number) => PromiseLike<unknown>;
  },
): ((effort: Effort) => Promise<Row>) => {
  return (effort) =>
    repeat(one, effort, async (turn, measure) => {
      const work = async (transaction: postgres.TransactionSql) => {
        const inside = nestable(transaction);
        await one.before?.(inside, turn);
        await measure(() => one.run(inside, turn));
        throw rolledBack;
      };
      await sql.begin(work).catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
    });
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
