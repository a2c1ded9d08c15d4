import { inventName, pick, randomOf } from "../seed/names.ts";

/** An invented employee of the legacy employee system. */
export interface Employee {
  /** 18 digits: birth date, month of appointment, sex, serial. */
  readonly nip: string;
  readonly name: string;
  readonly photoUrl: string;
  /** The current position first. */
  readonly positions: readonly { unit: string; name: string; holds: string }[];
  readonly ranks: readonly { group: string; name: string }[];
}

const units = ["DINAS KESEHATAN", "DINAS PENDIDIKAN", "SEKRETARIAT DAERAH", "BADAN KEPEGAWAIAN"] as const;
const titles = [
  "Analis Kepegawaian",
  "Pranata Komputer",
  "Bendahara",
  "Kepala Seksi Data & Informasi",
] as const;
/** The name of a rank may be blank. */
const ranks = [
  { group: "II/c", name: "Pengatur" },
  { group: "III/a", name: "Penata Muda" },
  { group: "III/c", name: "Penata" },
  { group: "IV/a", name: "" },
] as const;

const pad = (value: number, length: number) => String(value).padStart(length, "0");

/** Invents the employee with this number, always the same. Every tenth has no position. */
const inventEmployee = (row: number): Employee => {
  const random = randomOf(row);
  const sex = random() < 0.5 ? "female" : "male";
  const day = 1 + Math.floor(random() * 28);
  const month = 1 + Math.floor(random() * 12);
  // 2099: not the birth year of a real employee
  const nip = `2099${pad(month, 2)}${pad(day, 2)}212001${sex === "male" ? 1 : 2}${pad(row, 3)}`;
  const former = { unit: pick(random, units), name: pick(random, titles), holds: "n" };
  const current = { unit: pick(random, units), name: pick(random, titles), holds: "y" };
  return {
    nip,
    name: inventName(random, sex),
    photoUrl: `https://images.example/employees/${nip}.jpg`,
    positions: row % 10 === 0 ? [] : [current, former],
    ranks: ranks.slice(0, 1 + Math.floor(random() * ranks.length)),
  };
};

/** Invents employees 1 to `count`, at most 999. */
export const inventEmployees = (count: number): Employee[] =>
  Array.from({ length: count }, (_, i) => inventEmployee(i + 1));
