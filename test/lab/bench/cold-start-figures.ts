import type { CallerWait, PeerFigures } from "./beside-peers.ts";
import { type Bar, barsOf } from "./peer-picture.ts";
import { type Measure, printTable } from "./result.ts";

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

/** Prints the figures. */
export const printMeasured = ({ functions, peers, callerWaits }: Measured) => {
  printTable(functions.map(({ ratio, ...row }) => ({ ...row, ratio: ratio.median })));
  printTable(peers.map(({ ratio, share, ...row }) => ({ ...row, ratio: ratio.median, share: share.median })));
  printTable(
    callerWaits.map(({ ratio, perStart, peers: times, ...row }) => ({
      ...row,
      ratio: ratio.median,
      perStart: perStart.median,
      ...times,
    })),
  );
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
