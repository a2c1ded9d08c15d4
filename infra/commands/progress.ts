import { Presets, SingleBar } from "cli-progress";

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
