import { mkdirSync, writeFileSync } from "node:fs";
import { type ColdStart, type Invocation, startCold } from "./start-cold.ts";

/** What is started in each round, and how its result shows that it did its work. */
export interface Contender {
  readonly name: string;
  readonly target: Omit<Invocation, "event">;
  readonly makeEvent: () => Promise<unknown>;
  /** @throws Error when the result is not that of the work. */
  readonly check: (result: unknown) => void | Promise<void>;
}

/** The starts of one round, by contender. */
export type Round = ReadonlyMap<string, Pick<ColdStart, "ms" | "againMs">>;

/** A handler that does nothing, in `folder`: what is left is Node and the runtime client. */
export const writeEmptyHandler = (folder: string) => {
  mkdirSync(folder);
  writeFileSync(
    `${folder}/index.mjs`,
    'export const handler = async () => ({ statusCode: 200, body: "" });\n',
  );
};

/** Starts a contender once. @throws Error with its log when it did not do its work: an error is quick, but no figure. */
export const startOne = async ({ target, makeEvent, check }: Contender) => {
  const start = await startCold({ ...target, event: await makeEvent() });
  const result: unknown = JSON.parse(start.payload);
  try {
    await check(result);
  } catch (cause) {
    throw new Error(`${target.fn} answered ${start.payload}\n${start.printed}`, { cause });
  }
  return { ...start, result };
};

/** Starts all in turn, round by round, so that all meet the same load of the machine. */
export const startRounds = async (
  contenders: readonly Contender[],
  { rounds, signal }: { rounds: number; signal: AbortSignal },
): Promise<readonly Round[]> => {
  const startRound = async (): Promise<Round> => {
    const starts = new Map<string, Pick<ColdStart, "ms" | "againMs">>();
    for (const contender of contenders) {
      signal.throwIfAborted();
      const { ms, againMs } = await startOne(contender);
      starts.set(contender.name, { ms, againMs });
    }
    return starts;
  };
  await startRound(); // not counted: it reads the bundles from the disk
  const all: Round[] = [];
  while (all.length < rounds) all.push(await startRound());
  return all;
};
