import type { Row } from "#lib/import/table.ts";

/** The number of seeded residents; the fixtures add edge cases of names, times and addresses. */
export const seededResidents = 240;

interface Fixture {
  nik: string;
  name: string;
  motherName?: string;
  address?: string;
  createdAt: string;
}

const bulk = Array.from(
  { length: 12 },
  (_, i): Fixture => ({
    nik: `99990101010030${String(i).padStart(2, "0")}`,
    name: `KEMBAR ${i}`,
    createdAt: "2025-06-01 08:00:00.5",
  }),
);

export const fixtures: readonly Fixture[] = [
  { nik: "9999010101000001", name: "Zero Fraction", createdAt: "2025-07-01 03:04:05" },
  { nik: "9999010101000002", name: "Micro Seconds", createdAt: "2025-07-01 03:04:05.000007" },
  { nik: "9999010101000003", name: "Hundred%Percent", createdAt: "2025-05-01 00:00:01" },
  { nik: "9999010101000004", name: "Under_Score", createdAt: "2025-05-01 00:00:02" },
  { nik: "9999010101000005", name: "Back\\Slash", createdAt: "2025-05-01 00:00:03" },
  { nik: "9999010101000006", name: "D'ARAÚJO ÉLÈNE", createdAt: "2025-05-01 00:00:04" },
  {
    nik: "9999010101000007",
    name: "Masked Person",
    motherName: "Ibu  Suri É",
    address: "JL X",
    createdAt: "2025-05-01 00:00:05",
  },
  ...bulk,
];

/** In the order of the import's columns. */
export const toRow = ({ nik, name, motherName, address, createdAt }: Fixture, index: number): Row => ({
  line: index + 2,
  values: [
    ...[nik, "9999010101009999", name, motherName ?? "IBU CONTOH", address ?? "JL. CONTOH NO. 1"],
    ...["DUSUN", "DESA", "KEC", "KOTA", createdAt],
  ],
});
