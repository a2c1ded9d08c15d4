/**
 * ASN.1 values in DER, as far as a certificate needs them.
 * @see https://www.itu.int/rec/T-REC-X.690
 */
export const der = (tag: number, ...contents: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
};

export const sequence = (...contents: readonly Uint8Array[]) => der(0x30, ...contents);
export const set = (...contents: readonly Uint8Array[]) => der(0x31, ...contents);
export const octets = (content: Uint8Array) => der(0x04, content);
export const boolean = (value: boolean) => der(0x01, Buffer.from([value ? 0xff : 0]));
export const text = (value: string) => der(0x0c, Buffer.from(value));
/** The part of a structure that this number names. */
export const tagged = (number: number, content: Uint8Array) => der(0xa0 | number, content);
/** Whole bytes only: no bit of the last one is unused. */
export const bits = (content: Uint8Array) => der(0x03, Buffer.from([0]), content);

/** A positive integer, given as its bytes. DER wants the shortest form: no zero in front but for the sign. */
export const integer = (value: Uint8Array) => {
  const first = value.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : value.subarray(first);
  return der(0x02, (digits[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
};

export const time = (date: Date) =>
  der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`));

/** An object identifier, in dots. */
export const oid = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80);
    return septets;
  });
  return der(0x06, Buffer.from(bytes));
};
