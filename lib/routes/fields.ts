/**
 * Whether a text stands for no value: blank, or `null` or `undefined`, which is how `FormData` and templates write an
 * unset variable of JavaScript.
 */
export const isBlank = (value: unknown): boolean =>
  typeof value === "string" && /^(null|undefined)?$/.test(value.trim());

/** Text without control characters: `\P{Cc}`, spelt so that generated clients can use it without the flag `u`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it excludes
export const printable = /^[^\x00-\x1f\x7f-\x9f]*$/;

/** An uploaded file in the body of a multipart request. */
export interface Upload {
  readonly content: Buffer;
  /** Without folders; blank if none was sent. */
  readonly fileName: string;
  /** In lower case without parameters; as sent, not checked against the content. */
  readonly contentType: string;
}
