import { encodeBigEndian } from "baileys";

/** What a client sends before its first frame: "WA", protocol 6, dictionary 3. */
export const prologue = Buffer.from([0x57, 0x41, 6, 3]);
const lengthBytes = 3;

export const frame = (data: Uint8Array): Buffer =>
  Buffer.concat([encodeBigEndian(data.length, lengthBytes), data]);

/** Splits a client's bytes into frames: a web socket message may contain part of a frame or several. */
export class FrameReader {
  #rest = Buffer.alloc(0);
  #greeted = false;

  /** Returns the frames that these bytes complete. */
  read(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (!this.#greeted) {
      if (this.#rest.length < prologue.length) return [];
      if (!this.#rest.subarray(0, prologue.length).equals(prologue)) throw new Error("not a WhatsApp client");
      this.#rest = this.#rest.subarray(prologue.length);
      this.#greeted = true;
    }
    const frames: Buffer[] = [];
    while (this.#rest.length >= lengthBytes) {
      const end = lengthBytes + this.#rest.readUIntBE(0, lengthBytes);
      if (this.#rest.length < end) break;
      frames.push(this.#rest.subarray(lengthBytes, end));
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}
