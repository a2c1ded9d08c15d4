import type { Wish } from "#lib/notification/opt-out.ts";

interface Word {
  readonly wish: Wish;
  /** How old a message may be; undefined for any age. */
  readonly maxAgeMs?: number;
}

const dayMs = 24 * 60 * 60_000;

/** What people write to end messages: the keywords of the messaging industry, and their Indonesian equivalents. */
const outWords = [
  ...["BERHENTI", "HENTIKAN", "BATAL", "STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "UNREG", "END", "QUIT"],
  ...["CANCEL", "REVOKE", "OPTOUT", "OPT OUT"],
];

/**
 * The words that persons can write to the city's number.
 *
 * The platform holds messages back while the messenger is not connected, for weeks if need be. A person who wanted no more
 * reminders still wants none, however late that arrives. A wish to get them again counts for a day: the person may have
 * opted out in another way since, such as at a counter.
 */
export const words: Readonly<Record<string, Word>> = {
  ...Object.fromEntries(outWords.map((word) => [word, { wish: "out" }])),
  MULAI: { wish: "in", maxAgeMs: dayMs },
  START: { wish: "in", maxAgeMs: dayMs },
};

/** Words that change nothing about the wish to opt out. */
const polite = new Set(
  `YA YAA DONG DONK DEH SIH AJA SAJA LAH NIH TOLONG MOHON KAK PAK BU BAPAK IBU MAS MBAK BANG BOS MIN ADMIN OK OKE
  TERIMA KASIH MAKASIH TRIMS PLEASE PLS PLIS THANKS THANK YOU THX`.split(/\s+/),
);

/** Longer texts are not read. */
const maxLength = 80;

/**
 * Reads a word that is a whole message. Case, and everything between the words that is neither letter nor digit, such as
 * spaces, punctuation, formatting, emoji and invisible characters, do not count. Nor do polite or repeated words around one
 * that opts out: a false opt-out costs a reminder, a lost one costs trust.
 */
export const readWish = (text: string, ageMs: number): Wish | undefined => {
  if (text.length > maxLength) return undefined;
  // NFKC: letters in another style, such as bold or full-width ones
  const parts =
    text
      .normalize("NFKC")
      .toUpperCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const asked = [...new Set(parts.filter((part) => !polite.has(part)))];
  const find = (word: string) => (Object.hasOwn(words, word) ? words[word] : undefined);
  if (
    find(asked.join(" "))?.wish === "out" ||
    (asked.length > 0 && asked.every((part) => find(part)?.wish === "out"))
  )
    return "out";
  const word = find(parts.join(" "));
  return word && ageMs <= (word.maxAgeMs ?? 0) ? word.wish : undefined;
};
