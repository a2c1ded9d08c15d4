import { styleText } from "node:util";
import { ChannelFailure } from "#lib/channels/channel.ts";

/** What one step should have shown, and what it showed. Contains no number, text or key. */
export interface Row {
  readonly step: string;
  readonly expected: string;
  readonly seen: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** A failed step, in words that may be shown. */
export class StepFailure extends Error {}

const wordsOf = (error: unknown): string =>
  error instanceof StepFailure || error instanceof ChannelFailure
    ? error.message
    : `error: ${(error as Error).name}`;

/** Runs steps and collects their rows. */
export const startRows = () => {
  const rows: Row[] = [];
  return {
    rows: rows as readonly Row[],
    /**
     * @param needed what the step depends on; undefined skips it.
     * @returns the value of the step, or undefined when it failed or was skipped.
     */
    async run<N, T>(
      [step, expected]: readonly [step: string, expected: string],
      needed: N | undefined,
      work: (needed: N) => Promise<{ readonly seen: string; readonly value: T }>,
    ): Promise<T | undefined> {
      if (needed === undefined) {
        rows.push({ step, expected, seen: "not checked", outcome: "skipped" });
        return undefined;
      }
      const startedMs = performance.now();
      try {
        const { seen, value } = await work(needed);
        const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
        rows.push({ step, expected, seen: `${seen}, ${seconds} s`, outcome: "passed" });
        return value;
      } catch (error) {
        rows.push({ step, expected, seen: wordsOf(error), outcome: "failed" });
        return undefined;
      }
    },
  };
};

const signs = {
  passed: styleText("green", "✓"),
  failed: styleText("red", "✗"),
  skipped: styleText("dim", "–"),
};

const titles = { step: "Step", expected: "Expected", seen: "Seen" };

export const formatTable = (rows: readonly Row[]): string => {
  const width = (key: "step" | "expected") => Math.max(...[titles, ...rows].map((row) => row[key].length));
  const [stepWidth, expectedWidth] = [width("step"), width("expected")];
  const line = (sign: string, { step, expected, seen }: typeof titles) =>
    `${sign} ${step.padEnd(stepWidth)}  ${expected.padEnd(expectedWidth)}  ${seen}`;
  return [line(" ", titles), ...rows.map((row) => line(signs[row.outcome], row))].join("\n");
};
