import type { Random } from "../steps/random.ts";

/** Parts of names with the edges of Unicode: case that changes length or stays, marks, pairs, wildcards. */
const parts = [
  ...["SITI", "Siti", "NUR", "AMINAH", "MUHAMMAD", "A", "AN", "D'ARAÚJO", "ÉLÈNE", "É".normalize("NFD")],
  ...["İBRAHİM", "STRAẞE", "straße", "ΟΔΥΣΣΕΥΣ", "Σ", "ﬁ", "日本", "นาย", "👩‍👩‍👧", "😀", "𝒜", "K", "ǅ"],
  ...[
    "%",
    "_",
    "\\",
    "50%",
    "A_B",
    "a\\b",
    "-",
    ".",
    "\u0301",
    "\u200d",
    "Å",
    "Å".normalize("NFD"),
    "__proto__",
    "1",
  ],
];

/** One to four parts, joined by spaces or not at all. */
export const oddName = (random: Random): string => {
  const chosen = Array.from({ length: 1 + random.below(4) }, () => random.pick(parts));
  return chosen.join(random.chance(80) ? " " : "");
};

/** A part of one of the names, cut anywhere between code points, in any case; sometimes an unknown one. */
export const oddTerm = (random: Random, names: readonly string[]): string => {
  if (random.chance(5)) return random.pick(["zzqy", "日日", "''", "%%", "🧟"]);
  const characters = [...(names.length > 0 ? random.pick(names) : "a")];
  const start = random.below(characters.length);
  const term = characters.slice(start, start + 1 + random.below(random.chance(60) ? 2 : 12)).join("");
  return random.chance(30) ? term.toUpperCase() : term;
};
