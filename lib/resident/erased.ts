import type postgres from "postgres";
import type { ImportTable } from "#lib/import/table.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { residentImport } from "./import.ts";

interface Erased {
  readonly digest: string;
  readonly version: number;
}

/** The erasures were recorded with a pepper that is not this one. */
export class OtherPepper extends Error {
  override readonly name = "OtherPepper";
}

/**
 * Begins an import of residents: returns the table whose rule rejects the numbers of erased residents. Until the connection
 * ends, no resident can be erased.
 *
 * @param findPepper is called only if anybody was erased. @throws OtherPepper if it finds none, or one of another version.
 */
export const beginImport = async (
  sql: postgres.Sql,
  findPepper: () => Promise<Parameters<typeof digestWith>[0] | undefined>,
): Promise<ImportTable> => {
  const erased = await sql<Erased[]>`
    select nik_digest as digest, pepper_version as version from resident.begin_import()`;
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
