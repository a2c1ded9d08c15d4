/** The body has more bytes than its reader accepts. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

/** Reads the body of another system's answer as text. @throws TooLarge */
export const readText = async (body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** Parses JSON, before which legacy systems put a byte order mark. @returns undefined for anything else, such as an error page. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
};
