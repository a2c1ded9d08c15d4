/** Decodes quoted-printable (RFC 2045, 6.7). Returns undefined for an invalid escape. */
export const decodeQuotedPrintable = (content: Buffer): Buffer | undefined => {
  // control bytes, which this encoding escapes: the part is not what its header says
  if (content.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return undefined;
  const joined = content.toString("latin1").replace(/=[ \t]*\r?\n/g, "");
  if (/=(?![\da-f]{2})/i.test(joined)) return undefined;
  const decoded = joined.replace(/=(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
};
