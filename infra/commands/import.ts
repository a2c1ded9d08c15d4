import { createReadStream, statSync } from "node:fs";
import type postgres from "postgres";
import { HeaderError } from "#lib/import/file.ts";
import { importCsv } from "#lib/import/import.ts";
import type { ImportTable } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { startProgress } from "./progress.ts";
import { RejectionReport } from "./rejections.ts";

const tables = [residentImport, categoryImport, galleryImport];

const describe = ({ name, columns }: ImportTable) =>
  `  ${name.padEnd(11)}${columns.map(({ header, whenAbsent }) => (whenAbsent ? `[${header}]` : header)).join(",")}`;

const usage = `Usage: npm run import -- residents|categories|gallery FILE.csv

Imports a CSV file of any size. Rows with a known key are updated, others are added. Rows that fail validation
are written to FILE.rejected.csv with line number and reason. After an interruption, run the same command again.

The first line names the columns, in any order. Columns in [] are optional, unknown columns are ignored:
${tables.map(describe).join("\n")}

Exit code: 0 all rows imported, 2 some rows rejected, 1 import stopped.`;

const getSize = (file: string): number => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat?.isFile()) throw new CommandError(`File not found: ${file}`);
  return stat.size;
};

/** Two connections load faster, because PostgreSQL uses one core per connection; more gain little. */
const withConnections = <T>(work: (connections: [postgres.Sql, postgres.Sql]) => Promise<T>): Promise<T> =>
  withConnection("importer", (first) => withConnection("importer", (second) => work([first, second])));

const importFile = async (table: ImportTable, file: string): Promise<number> => {
  const size = getSize(file);
  const reportFile = `${file.replace(/\.csv$/i, "")}.rejected.csv`;
  return withConnections(async (connections) => {
    await connections[0]`select 1`;
    const progress = startProgress(size);
    const started = performance.now();
    let report: RejectionReport | undefined;
    let stored = 1;
    try {
      const { inserted, updated, unchanged, repeated, rejected } = await importCsv(
        connections,
        table,
        createReadStream(file),
        {
          onHeaders: (headers, ignored) => {
            report = new RejectionReport(reportFile, headers);
            if (ignored.length > 0) console.log(`Ignored columns: ${ignored.join(", ")}`);
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
      );
      progress.stop();
      const seconds = ((performance.now() - started) / 1_000).toFixed(1);
      console.log(`${inserted} added, ${updated} updated, ${unchanged} unchanged in ${seconds} s`);
      if (repeated > 0) console.log(`${repeated} rows were replaced by a later row with the same key`);
      if (rejected > 0) console.log(`${rejected} rejected; reasons are in ${reportFile}`);
      return rejected > 0 ? 2 : 0;
    } catch (error) {
      progress.stop();
      if (error instanceof HeaderError) throw new CommandError(error.message);
      if (error instanceof CommandError) throw error;
      const { code, message } = error as { code?: string; message: string };
      throw new CommandError(
        `Import stopped (${code ?? message}). Every valid row up to line ${stored} is stored. Run the same command again.`,
      );
    } finally {
      report?.end();
    }
  });
};

export const run = command(usage, {}, async ({ positionals: [name, file, ...more] }) => {
  const table = tables.find((candidate) => candidate.name === name);
  if (!table) throw new CommandError(`Unknown table: ${name}. Use residents, categories or gallery.`);
  if (!file || more.length > 0)
    throw new CommandError(`Expected one file: npm run import -- ${name} FILE.csv`);
  return importFile(table, file);
});

if (import.meta.main) await runCommand(run);
