/** Formats a time in UTC to the minute, or a dash for null. */
export const formatTime = (date: Date | null): string =>
  date
    ?.toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, "Z") ?? "-";

/** Imported text may contain control characters, which a terminal would obey. */
const printable = (cell: string): string => cell.replace(/\p{Cc}/gu, "\uFFFD");

/** Formats a table whose columns are as wide as their widest cell, separated by two spaces. */
export const formatTable = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const format = (row: readonly string[]) =>
    row.map((cell, i) => printable(cell).padEnd(widths[i] ?? 0)).join("  ");
  return [header, ...rows].map((row) => format(row).trimEnd()).join("\n");
};
