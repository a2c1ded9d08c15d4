import { createReadStream, statSync } from "node:fs";
import { parseArgs } from "node:util";
import type postgres from "postgres";
import { HeaderError } from "#lib/import/file.ts";
import { importCsv } from "#lib/import/import.ts";
import type { ImportTable } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";
import { RefusalReport } from "./refusals.ts";

const tables = [residentImport, categoryImport, galleryImport];

const describe = ({ name, columns }: ImportTable) =>
  `  ${name.padEnd(11)}${columns.map(({ header, whenAbsent }) => (whenAbsent ? `[${header}]` : header)).join(",")}`;

const usage = `Usage: npm run import -- residents|categories|gallery FILE.csv

Stores the rows of a CSV file of any size; rows that are there already are updated. A row that cannot be
stored goes to FILE.rejected.csv with its line and the reason. After a break, run the same command again.

The first line names the columns, in any order; [..] may be left out; other columns are ignored:
${tables.map(describe).join("\n")}

Exit code: 0 all rows stored, 2 some refused, 1 stopped.`;

const getSize = (file: string): number => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new CommandError(`There is no file ${file}`);
  return stat.size;
};

/** One loads slower, as PostgreSQL works for a connection on one core; more gain little. */
const withConnections = <T>(work: (connections: [postgres.Sql, postgres.Sql]) => Promise<T>): Promise<T> =>
  withConnection("importer", (first) => withConnection("importer", (second) => work([first, second])));

const importFile = async (table: ImportTable, file: string): Promise<number> => {
  const size = getSize(file);
  const reportFile = `${file.replace(/\.csv$/i, "")}.rejected.csv`;
  return withConnections(async (connections) => {
    await connections[0]`select 1`;
    const progress = startProgress(size);
    const started = performance.now();
    let report: RefusalReport | undefined;
    let stored = 1;
    try {
      const { inserted, updated, unchanged, repeated, refused } = await importCsv(
        connections,
        table,
        createReadStream(file),
        {
          onHeaders: (headers, ignored) => {
            report = new RefusalReport(reportFile, headers);
            if (ignored.length > 0) console.log(`columns that are not stored: ${ignored.join(", ")}`);
          },
          onRefusals: (refusals) => report?.write(refusals),
          onProgress: (bytes, storedLine, counts) => {
            stored = storedLine;
            progress.update(
              bytes,
              `${counts.inserted + counts.updated + counts.unchanged} rows, ${counts.refused} refused`,
            );
          },
        },
      );
      progress.stop();
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      console.log(`${inserted} added, ${updated} updated, ${unchanged} unchanged in ${seconds} s`);
      if (repeated > 0)
        console.log(`${repeated} rows came again further down with the same key; the last one counts`);
      if (refused > 0) console.log(`${refused} refused, each with its reason in ${reportFile}`);
      return refused > 0 ? 2 : 0;
    } catch (error) {
      progress.stop();
      if (error instanceof HeaderError) throw new CommandError(error.message);
      if (error instanceof CommandError) throw error;
      const { code, message } = error as { code?: string; message: string };
      throw new CommandError(
        `Stopped (${code ?? message}). Every good row up to line ${stored} is stored; run the same command again.`,
      );
    } finally {
      report?.end();
    }
  });
};

export const run = command(usage, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [name, file, ...more] = positionals;
  const table = tables.find((candidate) => candidate.name === name);
  if (!table)
    throw new CommandError(`${name} cannot be imported; choose one of residents, categories, gallery`);
  if (!file || more.length > 0) throw new CommandError(`Give one file: npm run import -- ${name} FILE.csv`);
  return importFile(table, file);
});

if (import.meta.main) await runCommand(run);
