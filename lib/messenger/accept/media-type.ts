import { fileTypeFromBuffer } from "file-type";
import mime from "mime";

/** What senders and servers declare when they do not know the type; the second is the default of S3. */
const undeclared = ["application/octet-stream", "binary/octet-stream"];
/** Formats that contain others, such as documents of Office: the extension is more precise. */
const containers = ["application/zip", "application/x-cfb", "application/xml"];
/** Enough to detect a document of Word in its archive; LibreOffice writes the entry that identifies it last. */
const peekBytes = 64 * 1024;

/** Reads the beginning of a stream. @returns it, and the whole stream. */
const peek = async (body: AsyncIterable<Uint8Array>) => {
  const iterator = body[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  for (let size = 0; size < peekBytes; size += parts.at(-1)?.length ?? 0) {
    const { done, value } = await iterator.next();
    if (done) break;
    parts.push(value);
  }
  async function* read() {
    try {
      yield* parts;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  }
  return { beginning: Buffer.concat(parts).subarray(0, peekBytes), whole: read() };
};

interface Typed {
  readonly beginning: Buffer;
  /** Of the content alone, if it shows. */
  readonly detected: string | undefined;
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Finds the type of a file, so that a phone shows its icon and opens it: the first declared one, or that of its content,
 * or that of its extension.
 *
 * @param declared types by the sender and the server, the most trusted first.
 */
export const withType = async (
  declared: readonly (string | undefined)[],
  fileName: string,
  body: AsyncIterable<Uint8Array>,
): Promise<Typed> => {
  const { beginning, whole } = await peek(body);
  const detected = (await fileTypeFromBuffer(beginning).catch(() => undefined))?.mime;
  const isBinary = detected !== undefined && detected !== "application/xml";
  const known = declared.find(
    (type) =>
      type !== undefined && !undeclared.includes(type) && !(isBinary && /\bx?html$|\bjson$/.test(type)),
  );
  if (known !== undefined) return { contentType: known, body: whole, beginning, detected };
  const named = mime.getType(fileName) ?? undefined;
  const isPrecise = detected !== undefined && !containers.includes(detected);
  const contentType = (isPrecise ? detected : (named ?? detected)) ?? "application/octet-stream";
  return { contentType, body: whole, beginning, detected };
};

const html = /^\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body|script|meta|title)\b/i;
/** A page that is a sheet or a document for Office: many systems export that as `.xls`. */
const officePage = /urn:schemas-microsoft-com:office|<table\b/i;

/** Names what a server has answered in place of a file. @returns undefined for anything else. */
export const findPage = (beginning: Buffer, served: string | undefined, detected: string | undefined) => {
  if (detected !== undefined && detected !== "application/xml") return undefined;
  const text = beginning.toString().replace(/^\ufeff/, "");
  if (html.test(text) || /\bx?html\b/.test(served ?? "")) return "html";
  return /\bjson$/.test(served ?? "") || /^\s*\{\s*"/.test(text) ? "json" : undefined;
};

/** Whether a web page or JSON is what a file's name promises. */
export const isNamedPage = (page: "html" | "json", name: string | undefined, beginning: Buffer): boolean => {
  const named = mime.getType(name ?? "") ?? "";
  if (page === "json") return /\bjson$|^text\//.test(named);
  const isOffice = named === "application/vnd.ms-excel" || named === "application/msword";
  // a program that writes text may leave PHP's default type
  const isText = named.startsWith("text/") && !html.test(beginning.toString());
  return isText || /\bx?html\b/.test(named) || (isOffice && officePage.test(beginning.toString()));
};
