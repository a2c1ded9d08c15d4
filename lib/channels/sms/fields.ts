/**
 * What SMS gateways answer and report: JSON, a form or a query, whatever their Content-Type says. Numbers are read as text,
 * as they are written: an id of 19 digits is none that JavaScript can count to.
 */
type GatewayFields = Readonly<Record<string, unknown>> | readonly unknown[];

const keepNumber = (_: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === "number" ? source : value;

/** Reads JSON or a form. A text that is neither, such as Kannel's `0: Accepted for delivery`, stands at `text`. */
export const readFields = (text: string): GatewayFields => {
  try {
    const json: unknown = JSON.parse(text.replace(/^\uFEFF/, ""), keepNumber);
    return typeof json === "object" && json !== null ? (json as GatewayFields) : {};
  } catch {
    return { text, ...Object.fromEntries(new URLSearchParams(text)) };
  }
};

const findIn = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

/** Finds what stands at a place, such as `messages.0.status`: an object or a list too. */
export const findPlace = (fields: unknown, place: string): unknown =>
  findIn(fields, place) ?? place.split(".").reduce(findIn, fields);

/** Finds a text at a place. @returns undefined for a blank one, an object or a list. */
export const findText = (fields: unknown, place: string | undefined): string | undefined => {
  const found = place === undefined ? undefined : findPlace(fields, place);
  const text = typeof found === "string" || typeof found === "boolean" ? String(found).trim() : "";
  return text === "" ? undefined : text;
};

/** Finds an id that can be stored: visible ASCII, as all gateways write theirs. */
export const findId = (fields: unknown, place: string | undefined, maxLength: number): string | undefined => {
  const id = findText(fields, place);
  return id !== undefined && id.length <= maxLength && /^[!-~]+$/.test(id) ? id : undefined;
};

/** What may be stored and shown of a gateway's code. */
export const findCode = (fields: unknown, place: string | undefined): string | undefined =>
  findText(fields, place)?.match(/^[\w. -]{1,40}$/)?.[0];

/** A table's value for a gateway's word, which may be any. */
export const lookUp = <T>(table: Readonly<Record<string, T>>, word: string | undefined): T | undefined =>
  word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
