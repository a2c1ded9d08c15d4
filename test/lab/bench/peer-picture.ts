import type { Measure } from "./result.ts";

/** A bar with its spread. */
export interface Bar {
  readonly name: string;
  readonly ratio: Measure;
  readonly isOurs: boolean;
}

/** The bars of one function. */
export interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const width = 720;
/** Of the names on the left and the values on the right. */
const [left, right] = [150, 50];
const [barHeight, step, titleHeight, top] = [14, 22, 34, 40];

/**
 * Draws cold starts in starts of the empty handler as SVG: a bar for each median, a line for the spread. The background
 * is its own, so that it is readable on a light and a dark page.
 */
export const barsOf = (groups: readonly Group[]): string => {
  const most = Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio.high)));
  const x = (ratio: number) => (left + (ratio / most) * (width - left - right)).toFixed(1);
  let y = top;
  const lines = groups.flatMap(({ title, bars }) => {
    y += titleHeight;
    const heading = `<text x="16" y="${y - 10}" font-weight="bold">${title}</text>`;
    const drawn = bars.map(({ name, ratio, isOurs }) => {
      const [place, middle] = [y, y + barHeight / 2];
      y += step;
      return `<text x="${left - 8}" y="${middle + 4}" text-anchor="end">${name}</text>
<rect x="${left}" y="${place}" width="${(Number(x(ratio.median)) - left).toFixed(1)}" height="${barHeight}" fill="${isOurs ? "#0b6e4f" : "#a8b3b0"}"/>
<path d="M${x(ratio.low)} ${middle}H${x(ratio.high)}M${x(ratio.low)} ${middle - 3}v6M${x(ratio.high)} ${middle - 3}v6" stroke="#1c2422"/>
<text x="${Number(x(ratio.high)) + 6}" y="${middle + 4}">${ratio.median.toFixed(1)}</text>`;
    });
    return [heading, ...drawn];
  });
  const height = y + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#1c2422">
<title>Cold starts of our functions beside frameworks with the same duty</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="16" y="26" font-size="14">Cold start with the first request; 1 = an empty function</text>
${lines.join("\n")}
</svg>
`;
};
