/**
 * Creates a random number generator for one row (mulberry32, seeded with the row): a row's numbers do not depend on
 * the number of rows.
 *
 * @returns a function that returns the next number in [0, 1).
 */
export const randomOf = (row: number): (() => number) => {
  let state = Math.imul(row ^ 0x9e3779b9, 0x85ebca6b);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** Picks one of the values with equal probability. */
export const pick = <T>(random: () => number, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

/**
 * Picks values by Zipf's law: the second is half as likely as the first, the third a third.
 *
 * @param list comma-separated values.
 */
const zipf = (list: string) => {
  const values = list.trim().split(/,\s+/);
  const sums: number[] = [];
  for (const i of values.keys()) sums.push((sums[i - 1] ?? 0) + 1 / (i + 1));
  const total = sums.at(-1) ?? 1;
  return (random: () => number): string => {
    const target = random() * total;
    return values[sums.findIndex((sum) => sum > target)] ?? "";
  };
};

// most frequent first: by Zipf's law a few names are common and most are rare, as in a real register
const female = zipf(`
  SITI, SRI, NUR, DEWI, ENDANG, RATNA, DWI, TRI, EKA, WATI, YULIA, INDAH, FITRI, AYU, RINA, LESTARI,
  WAHYU, KARTIKA, MEGA, PUTRI, NOVI, RETNO, SUPRIHATIN, HARTINI, SUMIATI, AMINAH, KHADIJAH, ROHANI,
  LASTRI, MARYAM, NINGSIH, PARTINI, GINARTI, TUTIK, ZUBAIDAH, YOHANA, MELATI, CITRA, WULAN, INTAN`);
const male = zipf(`
  MUHAMMAD, AHMAD, AGUS, BUDI, SLAMET, EKO, JOKO, BAMBANG, ABDUL, DWI, TRI, RUDI, HENDRA, ANDI, DEDI,
  WAHYU, IWAN, HERU, YUSUF, RAHMAT, SUPARMAN, SUGENG, TEGUH, YANTO, NYOMAN, KETUT, MADE, WAYAN, GEDE,
  PUTU, YOHANES, MARKUS, TAUFIK, HIDAYAT, IRFAN, RIZKI, GALIH, BAYU, ARIEF, FAJAR`);
const last = zipf(`
  SANTOSO, WIJAYA, SETIAWAN, LESTARI, HIDAYAT, KURNIAWAN, SAPUTRA, RAHAYU, WAHYUNI, NUGROHO, SUSANTO,
  PRASETYO, UTAMI, HANDAYANI, GUNAWAN, SUSILO, PURNOMO, MULYANI, SURYANI, RAMADHAN, FIRMANSYAH,
  SIREGAR, NASUTION, HARAHAP, LUBIS, SITUMORANG, SIMANJUNTAK, PANJAITAN, MANURUNG, TAMPUBOLON, WIBOWO,
  HARTONO, SUDARSONO, KUSUMA, PRAWIRO, NOTONEGORO, MANGUNKUSUMO, D'ARAÚJO, DE FRETES, LATUCONSINA,
  TUASIKAL`);

/** Invents a name in capitals: a first name, mostly with a second or last name. */
export const inventName = (random: () => number, sex: "female" | "male"): string => {
  const given = sex === "female" ? female : male;
  const parts = random() < 0.08 ? [given(random)] : [given(random), last(random)];
  return random() < 0.35 ? [parts[0], given(random), ...parts.slice(1)].join(" ") : parts.join(" ");
};

const streets = ["MERDEKA", "DIPONEGORO", "SUDIRMAN", "MAWAR", "MELATI", "VETERAN", "PAHLAWAN"] as const;

/** Invents a street address with neighbourhood numbers. */
export const inventAddress = (random: () => number): string => {
  const street = pick(random, streets);
  const number = () => String(1 + Math.floor(random() * 12)).padStart(3, "0");
  return `JL. ${street} NO. ${1 + Math.floor(random() * 250)} RT ${number()} RW ${number()}`;
};
