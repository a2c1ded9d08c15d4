/** One colour's coefficients of an image; `size` × `size` of each block's lowest frequencies are kept. */
export interface Component {
  readonly id: number;
  /** Sampling factors. */
  readonly h: number;
  readonly v: number;
  readonly quantization: number;
  /** Blocks, without and with what fills the last MCU up. */
  readonly columns: number;
  readonly rows: number;
  readonly stride: number;
  readonly coefficients: Int16Array;
  prediction: number;
}

export interface Frame {
  readonly progressive: boolean;
  readonly width: number;
  readonly height: number;
  readonly mcuColumns: number;
  readonly mcuRows: number;
  readonly components: readonly Component[];
  /** Coefficients a block has in memory. */
  readonly perBlock: number;
  /** Where the coefficient of a zigzag position is kept within its block, -1 if it is not. */
  readonly places: Int8Array;
}

/** For each 16 bits that may come: length of the code they begin with << 8 | its value; 0 if there is none. */
export type HuffmanTable = Uint16Array;

/** @param lengths how many codes there are of 1 to 16 bits. */
export const buildHuffmanTable = (lengths: Uint8Array, values: Uint8Array): HuffmanTable => {
  const table = new Uint16Array(65_536);
  let next = 0;
  let index = 0;
  lengths.forEach((count, i) => {
    for (let k = 0; k < count; k++) {
      const end = next + (1 << (15 - i));
      if (end > 65_536 || index >= values.length) throw new Error("the Huffman table is overfull");
      table.fill(((i + 1) << 8) | (values[index++] ?? 0), next, end);
      next = end;
    }
  });
  return table;
};

/** What a scan header selects. */
export interface Scan {
  readonly parts: readonly { component: Component; dc: HuffmanTable; ac: HuffmanTable }[];
  readonly start: number;
  readonly end: number;
  /** Successive approximation: bits before and in this scan. */
  readonly high: number;
  readonly low: number;
  /** MCUs between restart markers, 0 for none. */
  readonly restartInterval: number;
}

/** The longest code is looked for in 16 bits, the last of which may lie behind the data. */
const maxMissing = 4;

/** Bits of entropy-coded data, and a few zeros past its end. */
class BitReader {
  readonly #bytes: Uint8Array;
  position: number;
  #bits = 0;
  #count = 0;
  #missing = 0;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.position = position;
  }

  #fill(count: number) {
    while (this.#count < count) {
      let byte = this.#bytes[this.position] ?? 0xff;
      if (byte !== 0xff) this.position += 1;
      else if (this.#bytes[this.position + 1] === 0) this.position += 2;
      else {
        byte = 0;
        if (++this.#missing > maxMissing) throw new Error("the picture ends too early");
      }
      this.#bits = ((this.#bits << 8) | byte) & 0xffffff;
      this.#count += 8;
    }
  }

  read(count: number): number {
    if (count === 0) return 0;
    this.#fill(count);
    this.#count -= count;
    return (this.#bits >>> this.#count) & ((1 << count) - 1);
  }

  /** A number of so many bits, of which a leading 0 means that it is negative. */
  readSigned(count: number): number {
    const value = this.read(count);
    return count > 0 && value < 1 << (count - 1) ? value - (1 << count) + 1 : value;
  }

  decode(table: HuffmanTable): number {
    this.#fill(16);
    const entry = table[(this.#bits >>> (this.#count - 16)) & 0xffff] ?? 0;
    if (entry === 0) throw new Error("no such Huffman code");
    this.#count -= entry >> 8;
    return entry & 0xff;
  }

  restart() {
    this.#bits = 0;
    this.#count = 0;
    this.#missing = 0;
    const bytes = this.#bytes;
    while (bytes[this.position] === 0xff && bytes[this.position + 1] === 0xff) this.position += 1;
    const marker = bytes[this.position + 1] ?? 0;
    if (bytes[this.position] !== 0xff || marker < 0xd0 || marker > 0xd7)
      throw new Error("a restart marker is missing");
    this.position += 2;
  }
}

type Part = Scan["parts"][number];
type DecodeBlock = (part: Part, offset: number) => void;

const decodeSequential = (bits: BitReader, { places }: Frame): DecodeBlock => {
  return ({ component, dc, ac }, offset) => {
    component.prediction += bits.readSigned(bits.decode(dc) & 15);
    component.coefficients[offset] = component.prediction;
    for (let k = 1; k < 64; k++) {
      const symbol = bits.decode(ac);
      const size = symbol & 15;
      if (size === 0 && symbol !== 0xf0) return;
      k += symbol >> 4;
      if (size === 0) continue;
      const value = bits.readSigned(size);
      const place = places[k] ?? -1;
      if (place >= 0) component.coefficients[offset + place] = value;
    }
  };
};

const decodeDc = (bits: BitReader, { high, low }: Scan): DecodeBlock =>
  high === 0
    ? ({ component, dc }, offset) => {
        component.prediction += bits.readSigned(bits.decode(dc) & 15);
        component.coefficients[offset] = component.prediction << low;
      }
    : ({ component: { coefficients } }, offset) => {
        coefficients[offset] = (coefficients[offset] ?? 0) | (bits.read(1) << low);
      };

const decodeAcFirst = (bits: BitReader, { places }: Frame, { start, end, low }: Scan): DecodeBlock => {
  let skipped = 0;
  return ({ component, ac }, offset) => {
    if (skipped > 0) {
      skipped -= 1;
      return;
    }
    for (let k = start; k <= end; k++) {
      const symbol = bits.decode(ac);
      const [run, size] = [symbol >> 4, symbol & 15];
      if (size === 0 && run < 15) {
        skipped = (1 << run) + bits.read(run) - 1;
        return;
      }
      k += run;
      if (size > 0) component.coefficients[offset + (places[k] ?? 0)] = bits.readSigned(size) << low;
    }
  };
};

/** Refines what earlier scans left: every coefficient that is not 0 yet takes a bit as it is passed (G.1.2.3). */
const decodeAcRefine = (bits: BitReader, { places }: Frame, { start, end, low }: Scan): DecodeBlock => {
  let skipped = 0;
  const step = 1 << low;
  return ({ component: { coefficients }, ac }, offset) => {
    let k = start;
    /** Passes zeros up to the one after so many others; @returns its place, -1 past the end. */
    const pass = (zeros: number): number => {
      for (; k <= end; k++) {
        const place = offset + (places[k] ?? 0);
        const value = coefficients[place] ?? 0;
        if (value === 0) {
          if (zeros-- === 0) return place;
        } else if (bits.read(1) && (value & step) === 0)
          coefficients[place] = value + (value > 0 ? step : -step);
      }
      return -1;
    };
    while (skipped === 0 && k <= end) {
      const symbol = bits.decode(ac);
      const [run, size] = [symbol >> 4, symbol & 15];
      if (size === 0 && run < 15) {
        skipped = (1 << run) + bits.read(run);
        break;
      }
      const value = size === 0 ? 0 : bits.read(1) ? step : -step;
      const place = pass(run);
      if (place >= 0) coefficients[place] = value;
      k += 1;
    }
    if (skipped > 0) {
      pass(64);
      skipped -= 1;
    }
  };
};

const makeDecoder = (bits: BitReader, frame: Frame, scan: Scan): DecodeBlock => {
  if (!frame.progressive) return decodeSequential(bits, frame);
  if (scan.start === 0) return decodeDc(bits, scan);
  return scan.high === 0 ? decodeAcFirst(bits, frame, scan) : decodeAcRefine(bits, frame, scan);
};

/**
 * Decodes one scan into its components' coefficients.
 *
 * @returns where the data after it begins.
 * @throws Error if the data is damaged or ends too early.
 */
export const decodeScan = (bytes: Uint8Array, position: number, frame: Frame, scan: Scan): number => {
  const bits = new BitReader(bytes, position);
  const [first] = scan.parts;
  if (!first) throw new Error("a scan of nothing");
  const alone = scan.parts.length === 1;
  const columns = alone ? first.component.columns : frame.mcuColumns;
  const rows = alone ? first.component.rows : frame.mcuRows;
  let decodeBlock = makeDecoder(bits, frame, scan);
  for (const { component } of scan.parts) component.prediction = 0;
  for (let mcu = 0; mcu < columns * rows; mcu++) {
    if (scan.restartInterval > 0 && mcu > 0 && mcu % scan.restartInterval === 0) {
      bits.restart();
      for (const { component } of scan.parts) component.prediction = 0;
      decodeBlock = makeDecoder(bits, frame, scan);
    }
    const row = Math.floor(mcu / columns);
    const column = mcu % columns;
    for (const part of scan.parts) {
      const { h, v, stride } = part.component;
      if (alone) decodeBlock(part, (row * stride + column) * frame.perBlock);
      else
        for (let y = 0; y < v; y++)
          for (let x = 0; x < h; x++)
            decodeBlock(part, ((row * v + y) * stride + column * h + x) * frame.perBlock);
    }
  }
  return bits.position;
};
