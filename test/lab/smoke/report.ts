import { styleText } from "node:util";
import type { Target } from "../../contract/target.ts";
import type { Result } from "./run.ts";

const width = 100;

const signs = {
  passed: styleText("green", "✓"),
  failed: styleText("red", "✗"),
  skipped: styleText("dim", "–"),
};

const detailsOf = ({ request, expected, received, requestId, fix }: NonNullable<Result["failure"]>) =>
  Object.entries({ request, expected, received, "request id": requestId, fix })
    .filter(([, text]) => text !== undefined)
    .map(([label, text]) => `\n      ${label.padEnd(10)} ${text}`)
    .join("");

const format = ({ outcome, name, ms, failure }: Result): string => {
  const time = styleText("dim", (outcome === "skipped" ? outcome : `${ms} ms`).padStart(9));
  return `  ${signs[outcome]} ${name.padEnd(width)} ${time}${failure ? detailsOf(failure) : ""}`;
};

/** Prints each result when it is there, under the title of its section. */
export const startReport = ({ addresses }: Target, print: (line: string) => void) => {
  print(`${addresses.integration}\n${addresses.messaging}`);
  let title = "";
  return (result: Result): void => {
    if (result.section !== title) print(`\n${styleText("bold", result.section)}`);
    title = result.section;
    print(format(result));
  };
};

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
}

export const summarize = (results: readonly Result[], startedMs: number): Summary => {
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return {
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
  };
};

/** The number of skipped cases for each reason. */
const countReasons = (results: readonly Result[]): string[] => {
  const reasons = results.flatMap(({ reason }) => reason ?? []);
  return [...new Set(reasons)].map((reason) => {
    const times = reasons.filter((other) => other === reason).length;
    return `  ${String(times).padStart(2)} ${reason}`;
  });
};

export const formatSummary = (
  { passed, failed, skipped, seconds }: Summary,
  results: readonly Result[],
): string => {
  const reasons = skipped > 0 ? `\nSkipped\n${countReasons(results).join("\n")}\n` : "";
  const words = `${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s`;
  return `${reasons}\n${styleText(failed > 0 ? "red" : "green", words)}`;
};
