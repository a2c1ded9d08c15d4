/** In milliseconds: a request waits for several statements, and answers within three seconds also when many are made at once. */
export const limitMs = 50;

/** Statements that may exceed the limit, by the start of their name, each with the reason. */
const slowByDesign: Readonly<Record<string, string>> = {};

/** @returns why a statement may be slow, if it may. */
export const findReason = (statement: string): string | undefined =>
  Object.entries(slowByDesign).find(([start]) => statement.startsWith(start))?.[1];
