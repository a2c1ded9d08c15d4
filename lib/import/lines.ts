import type { Readable } from "node:stream";

/** A line of a text file without its line end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Cut to the limit where the line is longer. */
  readonly text: string;
  readonly tooLong: boolean;
  /** Bytes read up to the block that holds the line's end. */
  readonly bytesRead: number;
}

/** Longest line in characters: what is kept of a longer one, so that memory stays bounded. */
export const maxLineLength = 64 * 1024;

/**
 * The lines of a UTF-8 file, `\n` or `\r\n`, in blocks; a byte order mark is dropped, bytes that are not
 * UTF-8 become U+FFFD. Not `readline`: that also splits at U+2028, which may stand in a quoted field.
 */
export const readLines = async function* (input: Readable): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder();
  let number = 0;
  let bytesRead = 0;
  let rest = "";
  let tooLong = false;
  const finish = (text: string): Line => {
    number += 1;
    const line = { number, text: text.replace(/\r$/, "").slice(0, maxLineLength), tooLong, bytesRead };
    const long = tooLong || text.length > maxLineLength;
    tooLong = false;
    return { ...line, tooLong: long };
  };
  for await (const block of input as AsyncIterable<Buffer>) {
    bytesRead += block.length;
    const parts = (rest + decoder.decode(block, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > maxLineLength) {
      tooLong = tooLong || parts.length === 0;
      rest = rest.slice(0, maxLineLength);
    }
    yield parts.map(finish);
  }
  rest += decoder.decode();
  if (rest !== "") yield [finish(rest)];
};
