import type postgres from "postgres";
import { Batch } from "#lib/import/batch.ts";
import { storeBatch } from "#lib/import/load.ts";
import type { Row } from "#lib/import/table.ts";
import { residentImport } from "#lib/resident/import.ts";
import { categoryImport, galleryImport } from "#lib/tourism/import.ts";
import { inventResident } from "./resident-rows.ts";

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

const names = [
  "Wisata Alam",
  "Wisata Budaya",
  "Wisata Kuliner",
  "Wisata Religi",
  "Wisata Belanja",
  "Desa Wisata",
];
const sights = ["Gerbang", "Taman", "Air terjun", "Pasar malam", "Menara pandang"];

/** Invents six categories, the last of them inactive. In the order of the import's columns. */
const inventCategories = (): Row[] =>
  names.map((name, i) => ({ line: i + 1, values: [String(i + 1), name, i < 5 ? "1" : "0"] }));

/** Invents five photos for each of the destinations 1 to 8. */
const inventPhotos = (): Row[] =>
  Array.from({ length: 40 }, (_, i) => {
    const destination = String(1 + Math.floor(i / 5));
    const sight = sights[i % 5] ?? "";
    const url = `https://images.example/destinations/${destination}/${(i % 5) + 1}.jpg`;
    return { line: i + 1, values: [String(i + 1), destination, url, `${sight} di destinasi ${destination}`] };
  });
