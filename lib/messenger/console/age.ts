const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A length of time in its largest whole unit: `3 min`. The server cannot know the operator's time zone. */
export const describeSeconds = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = units.find(([size]) => whole >= size) ?? [1, "s"];
  return `${Math.floor(whole / size)} ${name}`;
};

/** How long ago that was. */
export const describeAge = (then: Date, now: Date): string =>
  `${describeSeconds((now.getTime() - then.getTime()) / 1_000)} ago`;
