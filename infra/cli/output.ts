import { Presets, SingleBar } from "cli-progress";
import { findSetting } from "#lib/config.ts";
import { formatMinute } from "#lib/time-zone.ts";

/** Formats a moment in the city's time to the minute, or a dash for null. */
export const formatTime = (date: Date | null): string =>
  date === null ? "-" : formatMinute(date, findSetting("TIME_ZONE"));

/** Imported text may contain control characters, which a terminal would obey. */
const printable = (cell: string): string => cell.replace(/\p{Cc}/gu, "\uFFFD");

/** Formats a table whose columns are as wide as their widest cell, separated by two spaces. */
export const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    row.map((cell, i) => printable(cell).padEnd(widths[i] ?? 0)).join("  ");
  return [header, ...rows].map((row) => format(row).trimEnd()).join("\n");
};

/** Shows the progress of a long operation: a bar on a terminal, else a line every two seconds. */
export interface Progress {
  update(done: number, note: string): void;
  stop(): void;
}

const plainEveryMs = 2_000;

const plainProgress = (total: number): Progress => {
  let next = Date.now() + plainEveryMs;
  return {
    update(done, note) {
      if (Date.now() < next) return;
      next = Date.now() + plainEveryMs;
      // the answer is alone on stdout
      console.error(`${Math.floor((100 * done) / Math.max(total, 1))} %  ${note}`);
    },
    stop() {},
  };
};

const barProgress = (total: number): Progress => {
  const bar = new SingleBar(
    { format: "{bar} {percentage} %  {note}  {eta_formatted} left" },
    Presets.shades_classic,
  );
  bar.start(total, 0, { note: "" });
  return {
    update: (done, note) => bar.update(done, { note }),
    stop: () => bar.stop(),
  };
};

/** @param total in the unit of `update`. */
export const startProgress = (total: number): Progress =>
  process.stderr.isTTY ? barProgress(total) : plainProgress(total);
