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
