const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats a duration in its largest whole unit: `3 min`. The server does not know the operator's time zone. */
export const formatSeconds = (seconds: number): string => {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, name] = units.find(([size]) => whole >= size) ?? [1, "s"];
  return `${Math.floor(whole / size)} ${name}`;
};

/** Formats the time since a moment: `3 min ago`. */
export const formatAge = (then: Date, now: Date): string =>
  `${formatSeconds((now.getTime() - then.getTime()) / 1_000)} ago`;
