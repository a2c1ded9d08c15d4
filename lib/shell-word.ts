/** Quotes a word of a command that is printed for an operator's shell, unless it is plain. */
export const quoteWord = (word: string): string =>
  /^[\w./:@,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
