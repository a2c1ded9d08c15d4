import type postgres from "postgres";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import { residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";
import { inventResident } from "./resident-rows.ts";
import { inventCategories, inventPhotos } from "./tourism.ts";

const batchRows = 20_000;

/**
 * Stores invented data: residents 1 to `residents`, and some tourism data. The data is deterministic: a later call with
 * more residents adds the missing ones.
 *
 * @param sql connection of the role `municipal_importer`.
 * @param onProgress receives the number of residents stored so far.
 */
export const storeSeed = async (
  sql: postgres.Sql,
  residents: number,
  onProgress: (stored: number) => void,
) => {
  await storeBatch(sql, categoryImport, Batch.of(inventCategories()));
  await storeBatch(sql, galleryImport, Batch.of(inventPhotos()));
  for (let stored = 0; stored < residents; ) {
    const length = Math.min(batchRows, residents - stored);
    await storeBatch(
      sql,
      residentImport,
      Batch.of(Array.from({ length }, (_, i) => inventResident(stored + i + 1))),
    );
    stored += length;
    onProgress(stored);
  }
};
