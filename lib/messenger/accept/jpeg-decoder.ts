import {
  buildHuffmanTable,
  type Component,
  decodeScan,
  type Frame,
  type HuffmanTable,
  type Scan,
} from "./jpeg-scan.ts";

/** An image whose rows are read one after another, so that no whole bitmap need exist. */
export interface Rows {
  readonly width: number;
  readonly height: number;
  /** Writes row `y` as red, green, blue into `into`, 3 bytes a pixel. */
  readonly readRow: (y: number, into: Uint8Array) => void;
}

/** How many pixels stand for the 8 of a block's side: a scale of 1, ½, ¼, ⅛. */
export type BlockSize = 8 | 4 | 2 | 1;

/** Coefficients of 40 megapixels are 120 MB where colour is halved; beyond that it is not worth the memory. */
const maxCoefficientBytes = 128 * 1024 * 1024;

// position in the zigzag → row * 8 + column (T.81, figure A.6)
const zigzag = [
  ...[0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6],
  ...[7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31],
  ...[39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
];

const placesFor = (kept: number) =>
  Int8Array.from(zigzag, (at) => (at % 8 < kept && at >> 3 < kept ? (at >> 3) * kept + (at % 8) : -1));

const readFrame = (segment: Buffer, progressive: boolean, size: BlockSize): Frame => {
  const [precision, , , , , count = 0] = segment;
  const [height, width] = [segment.readUInt16BE(1), segment.readUInt16BE(3)];
  if (precision !== 8 || (count !== 1 && count !== 3)) throw new Error("not 8 bits of grey or three colours");
  const parts = Array.from({ length: count }, (_, i) => {
    const [id = 0, sampling = 0, quantization = 0] = segment.subarray(6 + i * 3, 9 + i * 3);
    const [h, v] = [sampling >> 4, sampling & 15];
    if (h < 1 || h > 4 || v < 1 || v > 4) throw new Error("no such sampling");
    return { id, h, v, quantization };
  });
  const maxH = Math.max(...parts.map(({ h }) => h));
  const maxV = Math.max(...parts.map(({ v }) => v));
  const mcuColumns = Math.ceil(width / 8 / maxH);
  const mcuRows = Math.ceil(height / 8 / maxV);
  // scans that refine must know all that came before; one that decodes at once keeps what will be looked at
  const kept = progressive ? 8 : size;
  const perBlock = kept * kept;
  const blocks = parts.reduce((sum, { h, v }) => sum + mcuColumns * h * mcuRows * v, 0);
  if (blocks * perBlock * 2 > maxCoefficientBytes) throw new Error("the picture needs too much memory");
  const components = parts.map(
    (part): Component => ({
      ...part,
      columns: Math.ceil((width * part.h) / maxH / 8),
      rows: Math.ceil((height * part.v) / maxV / 8),
      stride: mcuColumns * part.h,
      coefficients: new Int16Array(mcuColumns * part.h * mcuRows * part.v * perBlock),
      prediction: 0,
    }),
  );
  return { progressive, width, height, mcuColumns, mcuRows, components, perBlock, places: placesFor(kept) };
};

/** Inverse DCT of the lowest frequencies alone, which gives the block already scaled: one plane of bytes. */
const toPlane = (component: Component, table: Uint16Array, size: BlockSize, perBlock: number): Uint8Array => {
  const kept = Math.sqrt(perBlock);
  const { stride, coefficients } = component;
  const blocks = coefficients.length / perBlock;
  const plane = new Uint8Array(blocks * size * size);
  const basis = Float32Array.from({ length: size * size }, (_, i) => {
    const [x, u] = [Math.floor(i / size), i % size];
    return (u === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * x + 1) * u * Math.PI) / (2 * size));
  });
  const half = new Float32Array(size * size);
  for (let block = 0; block < blocks; block++) {
    for (let v = 0; v < size; v++)
      for (let x = 0; x < size; x++) {
        let sum = 0;
        for (let u = 0; u < size; u++) {
          const value = coefficients[block * perBlock + v * kept + u] as number;
          if (value !== 0) sum += value * (table[v * 8 + u] as number) * (basis[x * size + u] as number);
        }
        half[v * size + x] = sum;
      }
    const top = Math.floor(block / stride) * size;
    const left = (block % stride) * size;
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++) {
        let sum = 128.5;
        for (let v = 0; v < size; v++)
          sum += (half[v * size + x] as number) * (basis[y * size + v] as number);
        plane[(top + y) * stride * size + left + x] = sum < 0 ? 0 : sum > 255 ? 255 : sum;
      }
  }
  return plane;
};

const toRows = (
  frame: Frame,
  quantization: Map<number, Uint16Array>,
  size: BlockSize,
  isRgb: boolean,
): Rows => {
  const maxH = Math.max(...frame.components.map(({ h }) => h));
  const maxV = Math.max(...frame.components.map(({ v }) => v));
  const planes = frame.components.map((component) => {
    const table = quantization.get(component.quantization);
    if (!table) throw new Error("a quantization table is missing");
    const plane = toPlane(component, table, size, frame.perBlock);
    return { plane, stride: component.stride * size, x: component.h / maxH, y: component.v / maxV };
  });
  const width = Math.ceil((frame.width * size) / 8);
  const height = Math.ceil((frame.height * size) / 8);
  const [first, second = first, third = first] = planes;
  if (!first || !second || !third) throw new Error("a picture without colours");
  const clamp = (value: number) => (value < 0 ? 0 : value > 255 ? 255 : value);
  const readRow = (y: number, into: Uint8Array) => {
    const at = [first, second, third].map((part) => Math.floor(y * part.y) * part.stride) as [
      number,
      number,
      number,
    ];
    for (let x = 0, i = 0; x < width; x++, i += 3) {
      const a = first.plane[at[0] + ((x * first.x) | 0)] as number;
      const b = second.plane[at[1] + ((x * second.x) | 0)] as number;
      const c = third.plane[at[2] + ((x * third.x) | 0)] as number;
      const plain = isRgb || planes.length === 1;
      into[i] = plain ? a : clamp(a + 1.402 * (c - 128));
      into[i + 1] = plain ? b : clamp(a - 0.344136 * (b - 128) - 0.714136 * (c - 128));
      into[i + 2] = plain ? c : clamp(a + 1.772 * (b - 128));
    }
  };
  return { width, height, readRow };
};

/** DQT: one or several tables of 64 numbers of 8 or 16 bits, in zigzag order. */
const readQuantization = (segment: Buffer, tables: Map<number, Uint16Array>) => {
  for (let at = 0; at < segment.length; ) {
    const kind = segment.readUInt8(at++);
    const wide = kind >> 4 === 1;
    const table = new Uint16Array(64);
    for (const place of zigzag) {
      table[place] = wide ? segment.readUInt16BE(at) : segment.readUInt8(at);
      at += wide ? 2 : 1;
    }
    tables.set(kind & 15, table);
  }
};

/** DHT: one or several tables, of class 0 (DC) or 1 (AC) in the upper four bits. */
const readHuffman = (segment: Buffer, tables: Map<number, HuffmanTable>) => {
  for (let at = 0; at < segment.length; ) {
    const lengths = segment.subarray(at + 1, at + 17);
    const count = lengths.reduce((sum, length) => sum + length, 0);
    tables.set(segment.readUInt8(at), buildHuffmanTable(lengths, segment.subarray(at + 17, at + 17 + count)));
    at += 17 + count;
  }
};

/** Photographs have 1 to 12; each may cost a walk over all blocks for a few bytes of the file. */
const maxScans = 100;

const none: HuffmanTable = new Uint16Array(65_536);

const readScan = (
  segment: Buffer,
  frame: Frame,
  tables: Map<number, HuffmanTable>,
  restartInterval: number,
): Scan => {
  const count = segment.readUInt8(0);
  const parts = Array.from({ length: count }, (_, i) => {
    const [id, selectors = 0] = segment.subarray(1 + i * 2, 3 + i * 2);
    const component = frame.components.find((candidate) => candidate.id === id);
    if (!component) throw new Error("a scan of a colour that is not there");
    const [dc, ac] = [selectors >> 4, selectors & 15];
    return { component, dc: tables.get(dc) ?? none, ac: tables.get(0x10 | ac) ?? none };
  });
  const [start = 0, end = 63, approximation = 0] = segment.subarray(1 + count * 2);
  if (end > 63 || (frame.progressive && start > 0 && count > 1)) throw new Error("no such scan");
  return { parts, start, end, high: approximation >> 4, low: approximation & 15, restartInterval };
};

/**
 * Decodes a baseline or progressive JPG at a fraction of its size, in the memory of that fraction: jimp's
 * decoder (jpeg-js) keeps every coefficient of every block in an array of its own and takes 540 MiB for 12
 * megapixels; this one takes 45 at half the size.
 *
 * @param size pixels for each 8 of the original.
 * @throws Error if the picture is damaged, or of a kind that this does not read: CMYK, 12 bits, arithmetic.
 */
export const decodeJpeg = (bytes: Buffer, size: BlockSize): Rows => {
  const quantization = new Map<number, Uint16Array>();
  const huffman = new Map<number, HuffmanTable>();
  let frame: Frame | undefined;
  let restartInterval = 0;
  let isRgb = false;
  let scans = 0;
  let ended = false;
  for (let at = 2; at < bytes.length && !ended; ) {
    const marker = bytes.readUInt8(at) === 0xff ? bytes.readUInt8(at + 1) : 0;
    ended = marker === 0xd9;
    if (ended) continue;
    if (marker === 0 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7)) {
      at += marker === 0xff || marker === 0 ? 1 : 2;
      continue;
    }
    const segment = bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2));
    at += 2 + bytes.readUInt16BE(at + 2);
    if (marker === 0xdb) readQuantization(segment, quantization);
    else if (marker === 0xc4) readHuffman(segment, huffman);
    else if (marker === 0xdd) restartInterval = segment.readUInt16BE(0);
    // Adobe's segment says by its last byte that three colours are RGB
    else if (marker === 0xee && segment.toString("latin1", 0, 5) === "Adobe") isRgb = segment[11] === 0;
    else if (marker >= 0xc0 && marker <= 0xc2) {
      if (frame) throw new Error("more than one frame");
      frame = readFrame(segment, marker === 0xc2, size);
    } else if (marker >= 0xc3 && marker <= 0xcf) throw new Error("not baseline and not progressive");
    else if (marker === 0xda) {
      if (!frame) throw new Error("a scan before the frame");
      if (++scans > maxScans) throw new Error("too many scans");
      at = decodeScan(bytes, at, frame, readScan(segment, frame, huffman, restartInterval));
    }
  }
  if (!frame || !ended) throw new Error("the picture is cut short");
  return toRows(frame, quantization, size, isRgb);
};
