import type { Row } from "#lib/import/table.ts";
import { inventAddress, inventName, pick, randomOf } from "./names.ts";

/** The first digits of every invented NIK. No province has the number 99. */
export const inventedRegion = "9971";

const city = "KOTA CONTOH";
const districts = ["SUKOLILO", "TEGALSARI", "GUNUNGANYAR", "WONOREJO", "BANJARSARI", "KARANGPILANG"] as const;
const villages = ["SUKAMAJU", "MARGASARI", "TANJUNGMULYA", "PURWODADI", "SIDOREJO", "KEDUNGASIH"] as const;
const hamlets = ["KRAJAN", "TEGALSARI", "SUMBER", "KULON", "WETAN"] as const;

const days = 25_550; // 70 years of birth dates
const combinations = districts.length * days;
/** Coprime to the combinations: consecutive rows get distant dates, and no date is repeated early. */
const stride = 104_729;

const pad = (value: number, length: number) => String(value).padStart(length, "0");

/** Composes a NIK of region, birth date (day + 40 for women) and serial number. */
const inventNik = (row: number, sex: "female" | "male") => {
  const combination = (row * stride) % combinations;
  const district = combination % districts.length;
  const birth = new Date(Date.UTC(1940, 0, 1 + Math.floor(combination / districts.length)));
  const day = birth.getUTCDate() + (sex === "female" ? 40 : 0);
  const date = `${pad(day, 2)}${pad(birth.getUTCMonth() + 1, 2)}${pad(birth.getUTCFullYear() % 100, 2)}`;
  return {
    nik: `${inventedRegion}${pad(district + 1, 2)}${date}${pad(1 + Math.floor(row / combinations), 4)}`,
    district,
  };
};

/** Rows are 3.7 s apart from 2025 on. Every 500th starts a bulk load of 20 rows with the same time. */
const inventTime = (row: number, random: () => number): string => {
  const leader = row % 500 < 20 ? row - (row % 500) : row;
  const micros = leader === row ? Math.floor(random() * 1e6) : Math.floor(randomOf(leader)() * 1e6);
  const time = new Date(Date.UTC(2025, 0, 1) + leader * 3_700);
  return `${time.toISOString().slice(0, 19)}.${pad(leader % 7 === 0 ? 0 : micros, 6)}`;
};

/** Invents the resident with this number, always the same. In the order of the import's columns. */
export const inventResident = (row: number): Row => {
  const random = randomOf(row);
  const sex = random() < 0.5 ? "female" : "male";
  const { nik, district } = inventNik(row, sex);
  const familyCard = `${inventedRegion}${pad(district + 1, 2)}${pad(Math.floor(random() * 1e6), 6)}${pad(row % 10_000, 4)}`;
  return {
    line: row,
    values: [
      nik,
      familyCard,
      inventName(random, sex),
      inventName(random, "female"),
      inventAddress(random),
      `DUSUN ${pick(random, hamlets)}`,
      pick(random, villages),
      districts[district] ?? districts[0],
      city,
      inventTime(row, random),
    ],
  };
};
