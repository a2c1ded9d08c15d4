/** What a word does. */
export type Wish = "out" | "in";

interface Word {
  readonly wish: Wish;
  /** How old a message may be; undefined for any age. */
  readonly maxAgeMs?: number;
}

const dayMs = 24 * 60 * 60_000;

/**
 * The words that persons can write to the city's number.
 *
 * The platform holds messages back while the messenger is not connected, for weeks if need be. A person who wanted no more
 * reminders still wants none, however late that arrives. A wish to get them again counts for a day: the person may have
 * opted out in another way since, such as at a counter.
 */
export const words: Readonly<Record<string, Word>> = {
  BERHENTI: { wish: "out" },
  STOP: { wish: "out" },
  MULAI: { wish: "in", maxAgeMs: dayMs },
  START: { wish: "in", maxAgeMs: dayMs },
};

/** Longer texts are not looked at: the longest word has 8 letters, and few people type more marks around it. */
const maxLength = 40;

/**
 * Reads a word that is a whole message. Case, and everything around it that is neither letter nor digit, such as spaces,
 * punctuation, formatting, emoji and invisible characters, do not count.
 */
export const readWish = (text: string, ageMs: number): Wish | undefined => {
  if (text.length > maxLength) return undefined;
  const bare = text
    // letters in another style, such as bold or full-width ones
    .normalize("NFKC")
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "")
    .toUpperCase();
  const word = Object.hasOwn(words, bare) ? words[bare] : undefined;
  if (!word || (word.maxAgeMs !== undefined && !(ageMs <= word.maxAgeMs))) return undefined;
  return word.wish;
};
