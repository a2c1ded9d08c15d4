import { Readable } from "node:stream";
import { importCsv } from "#lib/import/import.ts";
import { residentImport } from "#lib/resident/import.ts";
import { inventResident } from "../../../infra/local/seed/resident-rows.ts";
import { residentCsv } from "../../steps/residents/resident-csv.ts";
import { measureRecovery } from "./import-recovery.ts";
import { copyCsv, fillResidents, type ResidentDatabase, withResidentDatabase } from "./resident-database.ts";
import { median, printTable, type Result } from "./result.ts";
import { compare, timed } from "./timing.ts";

/** Rows that are loaded on top begin here: none of them is there yet. */
const loadedFrom = 20_000_001;
const bytesPerRead = 65_536;
const namePlace = residentImport.columns.findIndex(({ column }) => column === "name");

/** As a file is read. */
const pieces = (csv: Buffer): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(csv.length / bytesPerRead) }, (_, i) =>
      csv.subarray(i * bytesPerRead, (i + 1) * bytesPerRead),
    ),
  );

const inventCsv = (from: number, rows: number): Buffer =>
  Buffer.from(residentCsv(Array.from({ length: rows }, (_, i) => inventResident(from + i))));

/** Every hundredth resident of those that are there, with another name: all blocks have some. */
const inventUpdates = (rows: number): Buffer => {
  const changed = Array.from({ length: Math.ceil(rows / 100) }, (_, i) => {
    const { line, values } = inventResident(1 + i * 100);
    return { line, values: values.map((value, place) => (place === namePlace ? `${value} BARU` : value)) };
  });
  return Buffer.from(residentCsv(changed));
};

const importers = ({ connectAsImporter }: ResidentDatabase) =>
  [connectAsImporter(), connectAsImporter()] as const;

const silent = { onHeaders: () => {}, onRejections: () => {}, onProgress: () => {} };

/**
 * Microseconds for each row of a CSV file: a bare COPY into a table without any index, the same into the
 * table of all residents, with its indexes and triggers, and an import into that, with all its checks, over two
 * connections as the command has them. In turn, round by round; rows are invented beforehand.
 */
const measureLoad = async (database: ResidentDatabase, loadRows: number, loadRounds: number) => {
  const sql = database.connect();
  const connections = importers(database);
  await sql`create table bare (like resident.resident including generated including identity
    including defaults including constraints)`;
  let from = loadedFrom;
  const ways = {
    "bare COPY": (csv: Buffer) => copyCsv(sql, "bare", pieces(csv)),
    "COPY with indexes and triggers": (csv: Buffer) => copyCsv(sql, "resident.resident", pieces(csv)),
    import: (csv: Buffer) => importCsv(connections, residentImport, () => pieces(csv), silent),
  };
  const times = Object.keys(ways).map((): number[] => []);
  for (let turn = 0; turn < loadRounds; turn++)
    for (const [i, load] of Object.values(ways).entries()) {
      const csv = inventCsv(from, loadRows);
      from += loadRows;
      times[i]?.push(await timed(() => load(csv)));
    }
  const [bare = []] = times;
  return Object.keys(ways).map((way, i) => ({
    way,
    "µs/row": Number((median(times[i] ?? []) / (loadRows / 1_000)).toFixed(1)),
    ...compare(times[i] ?? [], bare),
  }));
};

/**
 * Measures an import of residents as a ratio to a bare COPY, and how long searches are slower after one.
 *
 * @param options `rows`: of each file; `beside`: residents that are there before.
 */
export const benchImport = async ({
  rows,
  beside = 1_000_000,
  rounds = 3,
  samples = 50,
}: {
  rows: number;
  beside?: number;
  rounds?: number;
  samples?: number;
}): Promise<Result> => {
  const withResidents = <T>(work: (database: ResidentDatabase) => Promise<T>): Promise<T> =>
    withResidentDatabase(async (database) => {
      await fillResidents(database.connect(), beside, (step) => console.error(`${step} …`));
      return work(database);
    });
  const ways = await withResidents((database) => measureLoad(database, rows, rounds));
  printTable(ways);
  const recoverFrom = (csv: Buffer) =>
    withResidents((database) => {
      const load = () => importCsv(importers(database), residentImport, () => pieces(csv), silent);
      return measureRecovery(database, load, samples);
    });
  const recovery = await recoverFrom(inventCsv(loadedFrom, rows));
  printTable(recovery);
  const recoveryOfUpdates = await recoverFrom(inventUpdates(beside));
  printTable(recoveryOfUpdates);
  return { bench: "import", figures: { rows, beside, ways, recovery, recoveryOfUpdates } };
};
