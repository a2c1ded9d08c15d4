/**
 * Whether a text stands for no value: blank, or `null` or `undefined`, which is how `FormData` and templates write an
 * unset variable of JavaScript.
 */
export const isBlank = (value: unknown): boolean =>
  typeof value === "string" && /^(null|undefined)?$/.test(value.trim());
