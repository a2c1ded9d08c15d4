/** To the minute, in UTC; a dash for none. */
export const formatTime = (date: Date | null): string =>
  date?.toISOString().slice(0, 16).replace("T", " ") ?? "-";

/** Columns as wide as their widest cell, two spaces apart. */
export const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const format = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
  return [header, ...rows].map((row) => format(row).trimEnd()).join("\n");
};
