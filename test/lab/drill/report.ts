import { formatTable } from "../../../infra/cli/output.ts";

/** One step of the drill. */
export interface Step {
  readonly name: string;
  readonly seconds: number;
  /** Whether the city waits for it: its time is part of the recovery. */
  readonly recovers: boolean;
  /** What was seen, in a few words. */
  readonly seen: string;
  /** What is not as it must be, in words; none after a good step. */
  readonly wrongs: readonly string[];
}

/** What a step found. */
export type Found = Pick<Step, "seen"> & Partial<Pick<Step, "wrongs">>;

/** Runs a step; after one that failed, no later one. */
export type Take = (
  name: string,
  work: () => Promise<Found>,
  options?: { readonly recovers?: boolean },
) => Promise<void>;

export interface Report {
  readonly steps: readonly Step[];
  /** Why no dumps were made, if none were. */
  readonly withoutDumps?: string | undefined;
  /** From the last moment that the archived log has to the loss. */
  readonly lostSeconds: number;
  /** What was done in between. */
  readonly lost: Readonly<Record<string, number>>;
}

const shownWrongs = 20;

export const hasPassed = ({ steps }: Pick<Report, "steps">): boolean =>
  steps.every(({ wrongs }) => wrongs.length === 0);

export const recoverySeconds = ({ steps }: Pick<Report, "steps">): number =>
  steps.filter(({ recovers }) => recovers).reduce((sum, { seconds }) => sum + seconds, 0);

/** The steps as a table, and what is wrong with them. */
const renderSteps = (steps: readonly Step[]) => {
  const rows = steps.map(({ name, seconds, recovers, seen, wrongs }) => [
    wrongs.length === 0 ? "✓" : "✗",
    name,
    `${seconds.toFixed(2)} s${recovers ? " *" : ""}`,
    seen,
  ]);
  const wrongs = steps.flatMap((step) =>
    step.wrongs.slice(0, shownWrongs).map((wrong) => `✗ ${step.name}: ${wrong}`),
  );
  return { table: formatTable(["", "Step", "Time", "Seen"], rows), wrongs };
};

export const renderReport = ({ steps, withoutDumps, lostSeconds, lost }: Report): string => {
  const { table, wrongs } = renderSteps(steps);
  const what = Object.entries(lost).map(([name, count]) => `${count} ${name}`);
  return [
    table,
    "",
    `Time to recover (RTO): ${recoverySeconds({ steps }).toFixed(2)} s, the steps with *.`,
    `Lost (RPO): the last ${lostSeconds.toFixed(2)} s, with ${what.join(", ")}.`,
    ...(withoutDumps === undefined ? [] : [withoutDumps]),
    ...wrongs,
  ].join("\n");
};

/** Of an upgrade: nothing is lost, but nobody can write meanwhile. */
export const renderUpgrade = ({ steps }: Pick<Report, "steps">): string => {
  const { table, wrongs } = renderSteps(steps);
  return [
    table,
    "",
    `Nothing could be written for ${recoverySeconds({ steps }).toFixed(2)} s, the steps with *.`,
    ...wrongs,
  ].join("\n");
};
