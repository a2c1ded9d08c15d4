import type { Row } from "#lib/import/table.ts";

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
export const inventCategories = (): Row[] =>
  names.map((name, i) => ({ line: i + 1, values: [String(i + 1), name, i < 5 ? "1" : "0"] }));

/** Invents five photos for each of the destinations 1 to 8. */
export const inventPhotos = (): Row[] =>
  Array.from({ length: 40 }, (_, i) => {
    const destination = String(1 + Math.floor(i / 5));
    const sight = sights[i % 5] ?? "";
    const url = `https://images.example/destinations/${destination}/${(i % 5) + 1}.jpg`;
    return { line: i + 1, values: [String(i + 1), destination, url, `${sight} di destinasi ${destination}`] };
  });
