import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { routes } from "#lib/routes/index.ts";
import { internalFunctions } from "#lib/routes/internal.ts";
import type { City } from "../../infra/local/city.ts";
import { compileCache } from "./command.ts";

const source = fileURLToPath(new URL("./function-process.ts", import.meta.url));

/** A completed run of a function. */
export interface Figures {
  readonly milliseconds: number;
  readonly peakMegabytes: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly answer: any;
}

/** A function's bundle in a separate process, which can be killed. */
export const startBundle = (fn: string, event: unknown, variables: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [source, fn, JSON.stringify(event)], {
    env: { ...compileCache, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => lines.push(line));
  const ended = once(child, "close").then(([code]) => ({
    /** Null when it was killed. */
    code: code as number | null,
    lines,
    figures: code === 0 ? (JSON.parse(lines.at(-1) ?? "{}") as Figures) : undefined,
  }));
  return { ended, kill: () => child.kill("SIGKILL") };
};

/**
 * A function of a city in a separate process, which can be killed.
 *
 * @param more environment variables.
 */
export const startFunction = (
  city: City,
  fn: string,
  event: unknown,
  more: Readonly<Record<string, string>> = {},
) => {
  const row = [...routes, ...internalFunctions].find((candidate) => candidate.fn === fn);
  if (!row) throw new Error(`there is no function ${fn}`);
  return startBundle(fn, event, { ...city.variables(row), ...more });
};
