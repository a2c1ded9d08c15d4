import { findSetting } from "./config.ts";

type Level = "debug" | "info" | "warn" | "error";
type Fields = Record<string, unknown>;

const rank: Record<Level, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** Keys whose values are never logged, compared without case, `-` and `_`. */
const secretKeys = new Set(
  [
    ...["password", "pass", "secret", "secretstring", "pepper", "authorization", "cookie", "setcookie"],
    ...["token", "accesstoken", "refreshtoken", "apikey", "xapikey", "tiket", "ticket", "databaseurl"],
    ...["nik", "pnik", "nokk", "familycardnumber", "nama", "pnama", "namaibu", "mothername", "alamat"],
    ...["address", "phone", "body", "parameters", "args", "query", "detail"],
  ].values(),
);

/** Identity, family-card and employee numbers have 16 to 18 digits: they are masked inside texts too, but not in a message's id. */
const withoutLongNumbers = (text: string) =>
  text.replace(/(\b3EB0[0-9A-F]{18}\b)|\d{15,}/g, (_, id?: string) => id ?? "[number]");

/** SQLSTATE classes whose messages quote data: 22 data exception, 23 integrity violation. */
const quotesData = (code: unknown) => typeof code === "string" && /^2[23]\w{3}$/.test(code);

/** Returns the printable fields of an error: never the query, its parameters or the row in `detail`. */
export const describeError = (error: Error & { code?: unknown; routine?: unknown }) => {
  const withheld = quotesData(error.code);
  return {
    name: error.name,
    code: error.code,
    message: withheld ? "[withheld: it may quote data]" : error.message,
    routine: error.routine,
    stack: withheld ? undefined : error.stack,
    cause: error.cause,
  };
};

const redact = (key: string, value: unknown): unknown => {
  if (secretKeys.has(key.toLowerCase().replace(/[-_]/g, ""))) return "[redacted]";
  if (value instanceof Error) return describeError(value);
  if (typeof value === "bigint") return value.toString();
  return typeof value === "string" ? withoutLongNumbers(value) : value;
};

const serialize = (entry: Fields): string => {
  try {
    return JSON.stringify(entry, redact);
  } catch {
    return JSON.stringify({
      time: entry.time,
      level: entry.level,
      message: "log entry cannot be serialized",
    });
  }
};

const write = (level: Level, message: string, fields: Fields = {}) => {
  if (rank[level] < rank[findSetting("LOG_LEVEL")]) return;
  process.stdout.write(`${serialize({ time: new Date().toISOString(), level, message, ...fields })}\n`);
};

/**
 * Writes one JSON object per line to standard output, which CloudWatch Logs collects.
 *
 * Redacts secrets and personal data by key, and long numbers inside texts.
 */
export const log = {
  info: (message: string, fields?: Fields) => write("info", message, fields),
  warn: (message: string, fields?: Fields) => write("warn", message, fields),
  error: (message: string, fields?: Fields) => write("error", message, fields),
};

/** Milliseconds that the request has waited for others, by the field of its log line. */
type Waits = Partial<Record<"database_ms" | "http_ms", number>>;

/** Of the request that is served: a Lambda environment serves one at a time. */
let waits: Waits = {};

/** Returns the waits since the last call, and begins to count those of the next request. */
export const takeWaits = (): Waits => {
  const taken = waits;
  waits = {};
  return taken;
};

/** Adds the time until `work` ends to a field. Waits at the same time are counted each. */
export const waiting = async <T>(field: keyof Waits, work: Promise<T>): Promise<T> => {
  const started = performance.now();
  try {
    return await work;
  } finally {
    waits[field] = (waits[field] ?? 0) + Math.round(performance.now() - started);
  }
};
