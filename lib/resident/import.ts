import type postgres from "postgres";
import { blankIfNone, cleanIdentityNumber } from "#lib/import/cell.ts";
import { holdSession } from "#lib/import/load.ts";
import { checkBlank, type ImportTable, optionalText } from "#lib/import/table.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { keepUp } from "./upkeep.ts";

const cleanNumber = (value: string) => cleanIdentityNumber(value, 16);

const checkNumber = (value: string) => {
  if (/^\d{16}$/.test(value)) return undefined;
  return /^\d+([.,]\d+)?e\+?\d+$/i.test(value)
    ? "was rounded by a spreadsheet; format the column as text and export it again"
    : "must have exactly 16 digits";
};

const timestampPattern = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(\.\d{1,6})?$/;

/** MySQL writes a date of zeros where there is none. */
const cleanTimestamp = (value: string) => (value.startsWith("0000-00-00") ? "" : blankIfNone(value));

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** Checks a local time without zone. PostgreSQL would silently drop a zone, and accept `infinity`. */
const checkTimestamp = (value: string) => {
  const parts = timestampPattern.exec(value);
  if (!parts) return "must look like 2024-01-02T03:04:05.123456, without a zone";
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const isDate = year >= 1900 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  const isTime = Number(parts[4]) < 24 && Number(parts[5]) < 60 && Number(parts[6]) < 60;
  return isDate && isTime ? undefined : "is not a valid date and time";
};

/** The limit in the database: a longer name does not fit into an index. */
const maxNameLength = 500;

const cleanName = (value: string) => (/^[-–—0]+$/.test(value) ? "" : value);

const checkName = (value: string) =>
  [...value].length > maxNameLength ? `must have at most ${maxNameLength} characters` : checkBlank(value);

const text = (header: string, column: string) => ({ ...optionalText(header, column), clean: blankIfNone });

/** Residents, by NIK. The database derives the masked values and search data. */
export const residentImport: ImportTable = {
  name: "residents",
  table: "resident.resident",
  key: "nik",
  columns: [
    {
      ...{ header: "nik", rule: "16 digits; the key", column: "nik", type: "text" },
      ...{ clean: cleanNumber, check: checkNumber, mayBeRounded: true },
    },
    {
      ...text("no_kk", "family_card_number"),
      rule: "16 digits; blank keeps what is stored",
      clean: (value) => blankIfNone(cleanNumber(value)),
      check: (value) => (value === "" ? undefined : checkNumber(value)),
      mayBeRounded: true,
    },
    {
      header: "nama",
      rule: "text of up to 500 characters, not blank",
      column: "name",
      type: "text",
      clean: cleanName,
      check: checkName,
    },
    text("nama_ibu", "mother_name"),
    text("alamat", "address"),
    text("t_dusun_lingkungan", "hamlet"),
    text("t_desakel", "village"),
    text("t_kec", "district"),
    text("t_kabkota", "city"),
    {
      header: "created_at",
      rule: "2024-01-02T03:04:05, local time without a zone; default: now",
      column: "created_at",
      type: "timestamp",
      clean: cleanTimestamp,
      check: checkTimestamp,
      whenAbsent: "now() at time zone city.time_zone()",
      isOptional: true,
    },
  ],
  // a blank cell says nothing about the register, so that a correction holds
  kept: (column) =>
    `coalesce((select c.replaced from resident.correction c
      where c.resident_id = known.id and c.column_name = '${column}'), known.${column})`,
  // a value that the register has, too, ends the correction
  alwaysWritten: "exists (select from resident.correction c where c.resident_id = target.id)",
  whole: {
    isKey: (value) => checkNumber(value) === undefined,
    markLeft: async (sql, keys) => {
      await sql`select resident.mark_left(string_to_array(${keys.join()}, ','))`;
    },
  },
  // until the next maintenance run, every read would add up the changes of the import, and search live what it has changed
  afterwards: keepUp,
};

interface Erased {
  readonly digest: string;
  readonly version: number;
}

/** The erasures were recorded with a pepper that is not this one. */
export class OtherPepper extends Error {
  override readonly name = "OtherPepper";
}

/**
 * Begins an import of residents: returns the table whose rule rejects the numbers of erased residents. Until the connections
 * end, no resident can be erased.
 *
 * @param connections each that stores rows: one that is lost must not leave another to add whom somebody erases then.
 * @param findPepper is called only if anybody was erased. @throws OtherPepper if it finds none, or one of another version.
 */
export const beginImport = async (
  connections: readonly postgres.Sql[],
  findPepper: () => Promise<Parameters<typeof digestWith>[0] | undefined>,
): Promise<ImportTable> => {
  let erased: readonly Erased[] = [];
  for (const sql of connections) {
    holdSession(sql);
    erased = await sql<Erased[]>`
      select nik_digest as digest, pepper_version as version from resident.begin_import()`;
  }
  if (erased.length === 0) return residentImport;
  const pepper = await findPepper();
  if (!pepper || erased.some(({ version }) => version !== pepper.version)) throw new OtherPepper();
  const { digest } = digestWith(pepper);
  const digests = new Set(erased.map((one) => one.digest));
  const isErased = (nik: string) => digests.has(digest(nik).toString("hex"));
  const columns = residentImport.columns.map((column) =>
    column.column === residentImport.key
      ? {
          ...column,
          check: (nik: string) =>
            column.check(nik) ?? (isErased(nik) ? "belongs to a resident who was erased" : undefined),
        }
      : column,
  );
  return { ...residentImport, columns };
};
