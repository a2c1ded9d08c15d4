import type { CallerWait, PeerFigures } from "./beside-peers.ts";
import { type Bar, barsOf } from "./peer-picture.ts";
import { compareMeasure, findResult, type Measure, printTable } from "./result.ts";

export type Figures = {
  readonly function: string;
  /** Over the rounds, of the function's time divided by the empty handler's. */
  readonly ratio: Measure;
  /** Median. */
  readonly ms: number;
  /** Median of the empty handler in the same rounds. */
  readonly emptyMs: number;
  /** Median, over the rounds, of the function's time less the empty handler's. */
  readonly extraMs: number;
  /** Size of the bundle, of 1024 bytes each. */
  readonly bundleKb: number;
};

/** What the bench of cold starts measures. */
export interface Measured {
  readonly functions: readonly Figures[];
  readonly peers: readonly PeerFigures[];
  readonly callerWaits: readonly CallerWait[];
}

/** Prints rows with what was stored before beside them. */
const printBeside = <T extends { readonly ratio: Measure }>(
  rows: readonly T[],
  stored: readonly T[] = [],
  { keyOf, cellsOf }: { keyOf: (row: T) => string; cellsOf: (row: T) => Record<string, string | number> },
) => {
  const before = new Map(stored.map((row) => [keyOf(row), row.ratio]));
  printTable(
    rows.map((row) => ({
      ...cellsOf(row),
      ratio: row.ratio.median,
      before: before.get(keyOf(row))?.median ?? 0,
      change: compareMeasure(row.ratio, before.get(keyOf(row))),
    })),
  );
};

/** Prints the figures, with what was stored before beside them. */
export const printMeasured = ({ functions, peers, callerWaits }: Measured) => {
  const stored = findResult("cold-start") as Partial<Measured> | undefined;
  printBeside(functions, stored?.functions, {
    keyOf: (row) => row.function,
    cellsOf: ({ ratio, ...row }) => row,
  });
  printBeside(peers, stored?.peers, {
    keyOf: (row) => `${row.function} ${row.peer}`,
    cellsOf: ({ ratio, toOurs, ...row }) => ({ ...row, toOurs: toOurs.median }),
  });
  printBeside(callerWaits, stored?.callerWaits, {
    keyOf: (row) => `${row.function} ${row.authorizer}`,
    cellsOf: ({ ratio, perStart, peers: times, ...row }) => ({
      ...row,
      perStart: perStart.median,
      ...times,
    }),
  });
};

/** Draws each function of ours between the peers with its duty; of a guarded one, also with its authorizer. */
export const drawMeasured = ({ functions, peers, callerWaits }: Measured): string => {
  const one = { median: 1, low: 1, high: 1 };
  const groups = functions.flatMap(({ function: fn, ratio }) => {
    const beside = peers.filter((row) => row.function === fn);
    const waits = callerWaits.filter((row) => row.function === fn && row.authorizer === "cold");
    const bars: Bar[] = [
      { name: "empty function", ratio: one, isOurs: false },
      { name: "ours", ratio, isOurs: true },
      ...waits.map((wait) => ({ name: "ours, authorizer too", ratio: wait.ratio, isOurs: true })),
      ...beside.map((row) => ({ name: row.peer, ratio: row.ratio, isOurs: false })),
    ];
    return beside.length > 0 ? [{ title: fn, bars }] : [];
  });
  return barsOf(groups);
};
