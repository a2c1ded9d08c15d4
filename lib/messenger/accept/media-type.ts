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
  const known = declared.find((type) => type !== undefined && !undeclared.includes(type));
  if (known !== undefined) return { contentType: known, body };
  const { beginning, whole } = await peek(body);
  const detected = (await fileTypeFromBuffer(beginning).catch(() => undefined))?.mime;
  const named = mime.getType(fileName) ?? undefined;
  const isPrecise = detected !== undefined && !containers.includes(detected);
  const contentType = (isPrecise ? detected : (named ?? detected)) ?? "application/octet-stream";
  return { contentType, body: whole };
};
