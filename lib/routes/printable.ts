/** Text without control characters: `\P{Cc}`, spelt so that generated clients can use it without the flag `u`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it excludes
export const printable = /^[^\x00-\x1f\x7f-\x9f]*$/;
