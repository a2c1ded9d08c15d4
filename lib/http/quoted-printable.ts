/** Decodes quoted-printable (RFC 2045, 6.7). Returns undefined for an invalid escape. */
export const decodeQuotedPrintable = (content: Buffer): Buffer | undefined => {
  const joined = content.toString("latin1").replace(/=[ \t]*\r?\n/g, "");
  if (/=(?![\da-f]{2})/i.test(joined)) return undefined;
  const decoded = joined.replace(/=(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
};
