import { pick, zipf } from "./random.ts";

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
