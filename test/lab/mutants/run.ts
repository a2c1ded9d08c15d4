import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import {
  CommandError,
  command,
  exitCodes,
  readWhole,
  runCommand,
  WrongCall,
} from "../../../infra/cli/command.ts";
import { Workshop } from "../../steps/workshop.ts";
import { leadsTo } from "./imports.ts";
import { Lane } from "./lane.ts";
import { applyMutant, type Mutant } from "./mutant.ts";
import { table } from "./table.ts";

interface Placed extends Mutant {
  readonly area: string;
}

interface Result extends Placed {
  readonly noticed: boolean;
  /** The first test that failed. */
  readonly by: string | undefined;
  readonly seconds: number;
}

const findAreas = (names: readonly string[]): readonly string[] => {
  const known = Object.keys(table);
  const unknown = names.filter((name) => name !== "all" && !known.includes(name));
  if (unknown.length > 0)
    throw new WrongCall(`Unknown area: ${unknown.join(", ")}; choose from all, ${known.join(", ")}`);
  return names.length === 0 || names.includes("all") ? known : names;
};

/** So many of them, the same ones for the same seed. */
const drawSample = (mutants: readonly Placed[], count: number, seed: string): Placed[] =>
  mutants
    .map((mutant) => ({
      mutant,
      rank: createHash("sha256").update(`${seed} ${mutant.file} ${mutant.breaks}`).digest("hex"),
    }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ mutant }) => mutant);

/** Every pattern must fit, and every test be there, before any time is spent. */
const checkPatterns = (mutants: readonly Placed[]) => {
  const wrongs = mutants.flatMap((mutant) => {
    try {
      applyMutant(mutant, readFileSync(mutant.file, "utf8"));
      return mutant.tests
        .filter((test) => !existsSync(test))
        .map(
          (test) =>
            `${test}: the test of «${mutant.breaks}» does not exist; name the one that covers ${mutant.file}`,
        );
    } catch (error) {
      return [(error as Error).message];
    }
  });
  if (wrongs.length > 0) throw new CommandError(wrongs.join("\n"));
};

/** A breakage that does not compile would be noticed by the compiler, and says nothing of the tests. */
const checkTypes = async (workshop: Workshop, mutants: readonly Placed[]) => {
  const copies = mutants.filter(({ file }) => file.endsWith(".ts"));
  copies.forEach((mutant, n) => {
    const copy = mutant.file.replace(/\.ts$/, `.mutant${n}.ts`);
    workshop.write(copy, applyMutant(mutant, workshop.read(mutant.file)));
  });
  const said = await workshop.checkTypes();
  if (said) throw new CommandError(`Mutants that do not compile:\n${said}`);
};

/** Without a mutant the tests must pass, or every mutant would seem detected. */
const checkTests = async (workshop: Workshop, mutants: readonly Placed[]) => {
  const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
  const { failed } = await workshop.test(files, undefined, 240_000 + files.length * 60_000, 120_000);
  if (failed.length > 0) throw new CommandError(`The tests fail without any mutant:\n${failed.join("\n")}`);
};

const bundled = ["infra/local/city.ts", "infra/local/messenger/process.ts", "test/contract/when.ts"];

/** Whether tests call bundles, which a lane does not build again. */
const startsFromBundles = (tests: readonly string[]) => tests.some((test) => leadsTo(test, bundled));

/** Breaks a copy of the tree while work is done. */
const withMutant = async <T>(workshop: Workshop, mutant: Mutant, work: () => Promise<T>): Promise<T> => {
  const text = workshop.read(mutant.file);
  workshop.write(mutant.file, applyMutant(mutant, text));
  try {
    return await work();
  } finally {
    workshop.write(mutant.file, text);
  }
};

const tryMutant = async (lane: Lane, workshop: Workshop, mutant: Placed): Promise<Result> => {
  const { breaks, file, tests: files, only } = mutant;
  const started = performance.now();
  const inLane = async () => {
    await lane.start();
    return withMutant(lane.workshop, mutant, () => lane.test({ changed: file, files, only }));
  };
  const anew = () => withMutant(workshop, mutant, () => workshop.test(files, only));
  const soon = startsFromBundles(files) ? undefined : await inLane();
  // the failure may come from the lane's city
  const { failed, passed } = soon && soon.failed.length > 0 ? soon : await anew();
  if (failed.length + passed.length === 0)
    throw new CommandError(`«${breaks}»: no test has a name that matches /${only}/`);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  return { ...mutant, noticed: failed.length > 0, by: failed[0], seconds };
};

/** Tries all of them, as many at a time as there are cores. */
const tryAll = async (mutants: readonly Placed[], onResult: (result: Result) => void): Promise<Result[]> => {
  const results: Result[] = [];
  const waiting = [...mutants];
  const work = async () => {
    const [lane, workshop] = [new Lane(), new Workshop()];
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const result = await tryMutant(lane, workshop, next);
        results.push(result);
        onResult(result);
      }
    } finally {
      await lane.remove();
      workshop.remove();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;
};

const share = (results: readonly Result[]): number =>
  (100 * results.filter(({ noticed }) => noticed).length) / results.length;

const formatResult = ({ noticed, area, file, breaks, by, seconds, tests }: Result): string => {
  const ran = `no test fails in ${tests.join(", ")}: add one there, or name the file that has it`;
  return (
    `${noticed ? "detected" : "SURVIVED"} ${seconds.toFixed(1).padStart(5)} s  ${area}: ${breaks} (${file})\n` +
    `${" ".repeat(18)}${noticed ? `by: ${by}` : ran}`
  );
};

const formatScore = (results: readonly Result[], least: number): string => {
  const areas = Object.entries(Object.groupBy(results, ({ area }) => area));
  const lines = [...areas, ["all", results] as const].map(([name, own = []]) => {
    const noticed = own.filter((result) => result.noticed).length;
    return `${name.padEnd(16)} ${noticed} of ${own.length} detected, ${share(own).toFixed(0)} %`;
  });
  return `\n${lines.join("\n")}; at least ${least} % are required`;
};

const about = `Break a copy of the product in small ways, one at a time, and list the breakages that no test detects.

The run fails if a pattern no longer matches the code, or if the tests fail without a mutant.`;

const run = command("mutants", about, (program, answer, print) => {
  program
    .argument("[area...]", `all, ${Object.keys(table).join(", ")}`)
    .option("--match <text>", "only mutants whose sentence or file contains this text", "")
    .option("--sample <number>", "a random sample of this size", readWhole("--sample", 0, 999_999), 999_999)
    .option("--seed <text>", "chooses the sample; default: the current time", new Date().toISOString())
    .option("--least <percent>", "share that must be detected", readWhole("--least", 0, 100), 90)
    .action(
      answer(async (areas, { match, sample, seed, least }) => {
        const fitting = findAreas(areas)
          .flatMap((area) => (table[area] ?? []).map((mutant) => ({ ...mutant, area })))
          .filter(({ breaks, file }) => `${breaks} ${file}`.includes(match));
        const mutants = drawSample(fitting, sample, seed);
        if (mutants.length === 0) throw new WrongCall("No mutant matches; see --help for how to choose some");
        checkPatterns(mutants);
        console.error(`Running the tests without mutants, then ${mutants.length} mutants …`);
        const workshop = new Workshop();
        try {
          await checkTests(workshop, mutants);
          await checkTypes(workshop, mutants);
        } finally {
          workshop.remove();
        }
        const results = await tryAll(mutants, (result) => print(formatResult(result)));
        const code = share(results) >= least ? exitCodes.done : exitCodes.partly;
        return { text: formatScore(results, least), json: results, code };
      }),
    );
});

await runCommand(run);
