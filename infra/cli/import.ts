import { createReadStream, rmSync, writeFileSync } from "node:fs";
import type postgres from "postgres";
import { HeaderError } from "#lib/import/header.ts";
import { clearWithBlanks, type ImportResult, importCsv } from "#lib/import/import.ts";
import type { ImportTable } from "#lib/import/table.ts";
import { beginImport, OtherPepper, residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";
import { CommandError, exitCodes, getSize, type Reply, readWhole, WrongCall } from "./command.ts";
import { startProgress } from "./output.ts";
import { RejectionReport } from "./rejections.ts";
import { noun, readStageSecret, withConnection } from "./stage.ts";

const tables = [residentImport, categoryImport, galleryImport];

const about = `Import a CSV file of any size. Rows with a known key are updated, others are added. Rows that fail validation
are written to FILE.rejected.csv with line number and reason. After an interruption, run the same command again.
Each run writes FILE.rejected.csv anew: correct a copy with another name, and import that.`;

const describe = ({ name, columns }: ImportTable) =>
  `\n  ${name}\n${columns
    .map(({ header, rule, isOptional }) => `    ${header.padEnd(20)}${rule}${isOptional ? "; optional" : ""}`)
    .join("\n")}`;

const columnsHelp = `
The first line names the columns, in any order; unknown columns are ignored. What each reads as blank, such as -, is in the guide:
${tables.map(describe).join("\n")}`;

/** Two connections load faster, because PostgreSQL uses one core per connection; more gain little. */
const withConnections = <T>(work: (connections: [postgres.Sql, postgres.Sql]) => Promise<T>): Promise<T> =>
  withConnection("importer", (first) => withConnection("importer", (second) => work([first, second])));

/** Begins an import; that of residents rejects erased ones, by HMACs of their numbers. */
const begin = async (table: ImportTable, connections: readonly postgres.Sql[]): Promise<ImportTable> => {
  if (table !== residentImport) {
    for (const sql of connections) await sql`select 1`;
    return table;
  }
  return beginImport(connections, () => readStageSecret("audit-pepper")).catch((error: unknown) => {
    if (!(error instanceof OtherPepper)) throw error;
    throw new CommandError(
      "This import must not add erased residents again: the secret audit-pepper needs the version that it had when they were erased.",
    );
  });
};

interface Options {
  readonly lastWins?: boolean;
  readonly blankClears?: true;
  readonly dryRun?: boolean;
  readonly complete?: true;
  readonly left?: number;
}

/** Writes the keys that a complete file lacks to a file that only its owner may read. @returns what to do with them. */
const reportMissing = (
  { keys, unreadable, areMarked }: NonNullable<ImportResult["missing"]>,
  missingFile: string,
  { left, dryRun = false }: Options,
): string => {
  rmSync(missingFile, { force: true });
  if (keys.length === 0) return "Everybody who is stored is in the file";
  writeFileSync(missingFile, `nik\n${keys.join("\n")}\n`, { flag: "wx", mode: 0o600 });
  const found = `${keys.length} residents are stored and not in the file; ${missingFile} lists them`;
  if (areMarked) return `${found}. They are marked as left, and no longer shown`;
  if (unreadable > 0)
    return `${found}. Nobody is marked: ${unreadable} rows have no readable NIK, and could be theirs. Correct those rows first`;
  if (left === keys.length && dryRun) return `${found}. They would be marked as left`;
  const other = left === undefined ? "" : `, because they are not ${left}`;
  return `${found}. Nobody is marked${other}. When all of them have left the register, run the same command with --left ${keys.length}`;
};

const summarize = (
  { inserted, updated, unchanged, repeated, blank, rejected }: ImportResult,
  seconds: string,
  reportFile: string,
  { lastWins, blankClears, dryRun }: Options,
): string[] => [
  ...(dryRun ? ["Nothing was stored: this is what the import would do."] : []),
  `${inserted} added, ${updated} updated, ${unchanged} unchanged in ${seconds} s`,
  ...(repeated === 0
    ? []
    : [
        lastWins
          ? `${repeated} rows were replaced by a later row with the same key`
          : `${repeated} rows repeat another row of the file`,
      ]),
  ...(blank === 0
    ? []
    : [
        blankClears
          ? `${blank} stored values were cleared by blank cells`
          : `${blank} blank cells keep the stored value; --blank-clears clears it`,
      ]),
  ...(rejected === 0 ? [] : [`${rejected} rejected; the rows are in ${reportFile}`]),
];

const importFile = async (given: ImportTable, file: string, options: Options): Promise<Reply> => {
  const { lastWins = false, blankClears, dryRun = false, left } = options;
  const isComplete = options.complete === true || left !== undefined;
  if (isComplete && !given.whole) throw new WrongCall("Only an import of residents can be complete.");
  const size = getSize(file);
  const name = file.replace(/\.csv$/i, "");
  const reportFile = `${name}.rejected.csv`;
  return withConnections(async (connections) => {
    const begun = await begin(given, connections);
    const table = blankClears ? await clearWithBlanks(connections, begun) : begun;
    const progress = startProgress(size);
    const started = performance.now();
    let report: RejectionReport | undefined;
    let stored = 1;
    try {
      const result = await importCsv(
        connections,
        table,
        () => createReadStream(file),
        {
          onHeaders: (headers, ignored) => {
            report = new RejectionReport(reportFile, headers);
            if (ignored.length > 0) console.error(`Ignored columns: ${ignored.join(", ")}`);
          },
          onRejections: (rejections) => report?.write(rejections),
          onProgress: (bytes, storedLine, counts) => {
            stored = storedLine;
            progress.update(
              bytes,
              `${counts.inserted + counts.updated + counts.unchanged} rows, ${counts.rejected} rejected`,
            );
          },
        },
        { lastWins, isTrial: dryRun, isComplete, ...(left !== undefined && { left }) },
      );
      progress.stop();
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      const reasons = report?.sum() ?? [];
      const lines = summarize(result, seconds, reportFile, options);
      for (const { count, reason } of reasons) lines.push(`  ${String(count).padStart(7)}  ${reason}`);
      const { missing, blank, rejected, ...counts } = result;
      const missingFile = `${name}.missing.csv`;
      if (missing) lines.push(reportMissing(missing, missingFile, options));
      // without anybody who is missing, an earlier run has marked them
      const isUnmarked =
        left !== undefined && !dryRun && missing?.areMarked === false && missing.keys.length > 0;
      return {
        text: lines.join("\n"),
        json: {
          dryRun,
          ...counts,
          [blankClears ? "cleared" : "kept"]: blank,
          rejected,
          reasons,
          ...(rejected > 0 && { reportFile }),
          ...(missing && {
            missing: missing.keys.length,
            unreadable: missing.unreadable,
            markedAsLeft: missing.areMarked,
            ...(missing.keys.length > 0 && { missingFile }),
          }),
        },
        code: isUnmarked ? exitCodes.failed : rejected > 0 ? exitCodes.partly : exitCodes.done,
      };
    } catch (error) {
      progress.stop();
      if (error instanceof HeaderError) throw new CommandError(error.message);
      if (error instanceof CommandError) throw error;
      const { code, message } = error as { code?: string; message: string };
      throw new CommandError(
        `Import stopped (${code ?? message}). ${dryRun ? "Nothing was stored." : `Every valid row up to line ${stored} is stored.`} Run the same command again.`,
      );
    } finally {
      report?.end();
    }
  });
};

const readTable = (name: string): ImportTable => {
  const table = tables.find((candidate) => candidate.name === name);
  if (!table) throw new WrongCall(`Unknown table: ${name}. Use residents, categories or gallery.`);
  return table;
};

export const run = noun("import", about, (program, answer) => {
  program
    .argument("<table>", "residents, categories or gallery", readTable)
    .argument("<file>", "the CSV file")
    .option(
      "--last-wins",
      "store the last of the rows with one key; without, they are rejected if they differ",
    )
    .option("--dry-run", "print what the import would do, and store nothing")
    .option("--blank-clears", "let a blank cell clear the stored value; without, it keeps it")
    .option("--complete", "list who is stored and not in the file, which must have all residents")
    .option(
      "--left <number>",
      "mark those as left, and hide them, if they are this many",
      readWhole("--left", 1, 100_000_000),
    )
    .addHelpText("after", columnsHelp)
    .action(answer(importFile));
});
