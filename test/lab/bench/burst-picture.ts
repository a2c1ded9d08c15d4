interface Point {
  readonly offered: number;
  readonly served: number;
  readonly p50: number;
  readonly p99: number;
}

const [width, height, margin] = [720, 360, 60];
const colours = { offered: "#999999", served: "#0b6e4f", rejected: "#c0392b" };

/** Draws requests per second as SVG, over the offered rate in logarithmic steps, with both percentiles at each. */
export const curveOf = (what: string, points: readonly Point[]): string => {
  const most = Math.max(...points.map(({ offered }) => offered));
  const x = (index: number) => margin + (index * (width - 2 * margin)) / Math.max(1, points.length - 1);
  const y = (rate: number) => height - margin - (rate / most) * (height - 2 * margin);
  const line = (name: keyof typeof colours, of: (point: Point) => number) => {
    const last = points.at(-1);
    const path = points.map((point, index) => `${x(index).toFixed(0)},${y(of(point)).toFixed(0)}`).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${colours[name]}" stroke-width="2"/>
<text x="${width - margin + 6}" y="${(y(last ? of(last) : 0) + (name === "rejected" ? 12 : -2)).toFixed(0)}" fill="${colours[name]}">${name}</text>`;
  };
  const labels = points.map(
    ({ offered, p50, p99 }, index) =>
      `<text x="${x(index).toFixed(0)}" y="${height - margin + 18}" text-anchor="middle">${offered}/s</text>
<text x="${x(index).toFixed(0)}" y="${height - margin + 34}" text-anchor="middle">${p50.toFixed(0)}, ${p99.toFixed(0)} ms</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<title>What the resident list serves and rejects at growing rates</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="${margin}" y="24" font-size="14">${what}: requests per second; below, p50 and p99</text>
${line("offered", ({ offered }) => offered)}
${line("served", ({ served }) => served)}
${line("rejected", ({ offered, served }) => offered - served)}
${labels.join("\n")}
</svg>
`;
};
