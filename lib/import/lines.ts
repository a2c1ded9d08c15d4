import type { Readable } from "node:stream";

/** A line of a text file without its line ending. */
export interface Line {
  /** Truncated to `maxLineLength`. */
  readonly text: string;
  readonly tooLong: boolean;
  /** Whether the file ends behind it without a line end. */
  readonly isUnended: boolean;
  /** Bytes read up to and including the block in which the line ends. */
  readonly bytesRead: number;
}

/** Maximum line length in characters; longer lines are truncated, so that memory stays bounded. */
export const maxLineLength = 64 * 1024;

/**
 * Reads the lines of a UTF-8 file, ended by `\n` or `\r\n`, in blocks. Drops a byte order mark; invalid bytes become
 * U+FFFD. `readline` does not fit: it also splits at U+2028, which may occur in a quoted field.
 */
export const readLines = async function* (input: Readable): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder();
  let bytesRead = 0;
  let rest = "";
  let tooLong = false;
  const finish = (text: string, isUnended = false): Line => {
    const long = tooLong || text.length > maxLineLength;
    tooLong = false;
    return { text: text.replace(/\r$/, "").slice(0, maxLineLength), tooLong: long, isUnended, bytesRead };
  };
  for await (const block of input as AsyncIterable<Buffer>) {
    bytesRead += block.length;
    const parts = (rest + decoder.decode(block, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > maxLineLength) {
      tooLong = tooLong || parts.length === 0;
      rest = rest.slice(0, maxLineLength);
    }
    yield parts.map((part) => finish(part));
  }
  rest += decoder.decode();
  if (rest !== "") yield [finish(rest, true)];
};
