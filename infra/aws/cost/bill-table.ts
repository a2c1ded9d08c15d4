import { costOf, type Line, totalOf } from "./estimate.ts";
import { source } from "./prices.ts";

const dollars = (amount: number) => amount.toFixed(2);
const shortly = (amount: number) => amount.toLocaleString("en-US", { maximumFractionDigits: 3 });

const arithmetic = ({ terms }: Line) =>
  terms.map(({ amount, unit, price }) => `${shortly(amount)} ${unit} × $${price}`).join(" + ");

const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

/**
 * Formats bills side by side as a Markdown table: one row per line item, with its arithmetic in one cell when it is
 * the same in all bills.
 */
export const billTable = (title: string, bills: Readonly<Record<string, readonly Line[]>>): string => {
  const names = Object.keys(bills);
  const items = [...new Set(Object.values(bills).flatMap((lines) => lines.map(({ what }) => what)))];
  const rows = items.map((item) => {
    const found = names.map((name) => bills[name]?.find(({ what }) => what === item));
    const sums = [...new Set(found.flatMap((line) => (line ? [arithmetic(line)] : [])))];
    return row([item, sums.join(" · "), ...found.map((line) => (line ? dollars(costOf(line)) : "–"))]);
  });
  const total = row(["**Total**", "", ...names.map((name) => `**${dollars(totalOf(bills[name] ?? []))}**`)]);
  const head = [title, `US dollars, ${source.region}, ${source.asOf}`, ...names];
  return [row(head), row(head.map((_, index) => (index < 2 ? "---" : "---:"))), ...rows, total].join("\n");
};
