// Writes JPGs of kinds that jimp does not: progressive, with smaller colours, with restart markers. Every
// Huffman code has 8 bits and is its own value, which is lawful and short to write down.

const segment = (marker: number, ...bytes: number[]) => [
  0xff,
  marker,
  (bytes.length + 2) >> 8,
  (bytes.length + 2) & 255,
  ...bytes,
];

class BitWriter {
  readonly bytes: number[] = [];
  #bits = "";

  write(value: number, count: number) {
    if (count > 0) this.#bits += value.toString(2).padStart(count, "0");
  }

  /** A number in as many bits as it needs; @returns how many, and the bits. */
  static signed(value: number): [number, number] {
    const count = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value))) + 1;
    return [count, value < 0 ? value + (1 << count) - 1 : value];
  }

  align() {
    for (const bits of this.#bits.match(/.{1,8}/g) ?? []) {
      const byte = Number.parseInt(bits.padEnd(8, "1"), 2);
      this.bytes.push(byte);
      if (byte === 0xff) this.bytes.push(0);
    }
    this.#bits = "";
  }
}

interface Shape {
  readonly width: number;
  readonly height: number;
  /** Sampling factors of the first colour; the others have 1 and 1. */
  readonly h: number;
  readonly v: number;
  readonly progressive: boolean;
  readonly restart?: number;
}

const divide = (value: number, bits: number) => Math.trunc(value / (1 << bits));

/** A picture of soft noise. */
export const encodeJpeg = ({ width, height, h, v, progressive, restart = 0 }: Shape): Buffer => {
  let seed = 1;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed / 0x7fffffff - 0.5;
  };
  const mcuColumns = Math.ceil(width / 8 / h);
  const mcuRows = Math.ceil(height / 8 / v);
  const components = [
    [h, v],
    [1, 1],
    [1, 1],
  ].map(([x = 1, y = 1], index) => ({
    ...{ x, y, index, stride: mcuColumns * x },
    columns: Math.ceil((width * x) / h / 8),
    rows: Math.ceil((height * y) / v / 8),
    blocks: Array.from({ length: mcuColumns * x * mcuRows * y }, () =>
      Array.from({ length: 64 }, (_, k) => Math.trunc((random() * 200) / (k * k * 0.1 + 1))),
    ),
  }));
  type Component = (typeof components)[number];

  const scan = (
    parts: Component[],
    [start, end, high, low]: readonly [number, number, number, number],
    write: (bits: BitWriter, block: number[], change: number) => void,
  ) => {
    const bits = new BitWriter();
    const last = new Map<Component, number>();
    const put = (part: Component, at: number) => {
      const block = part.blocks[at] ?? [];
      const dc = block[0] ?? 0;
      write(bits, block, (dc >> low) - (last.get(part) ?? 0));
      last.set(part, dc >> low);
    };
    const [only] = parts;
    const alone = parts.length === 1 && only;
    const [columns, rows] = alone ? [alone.columns, alone.rows] : [mcuColumns, mcuRows];
    for (let mcu = 0; mcu < columns * rows; mcu++) {
      if (restart > 0 && mcu > 0 && mcu % restart === 0) {
        bits.align();
        bits.bytes.push(0xff, 0xd0 + ((mcu / restart - 1) % 8));
        last.clear();
      }
      const [row, column] = [Math.floor(mcu / columns), mcu % columns];
      for (const part of parts)
        if (alone) put(part, row * part.stride + column);
        else
          for (let y = 0; y < part.y; y++)
            for (let x = 0; x < part.x; x++)
              put(part, (row * part.y + y) * part.stride + column * part.x + x);
    }
    bits.align();
    const selectors = parts.flatMap(({ index }) => [index + 1, 0]);
    return [...segment(0xda, parts.length, ...selectors, start, end, (high << 4) | low), ...bits.bytes];
  };

  const writeDc = (bits: BitWriter, change: number) => {
    const [count, value] = BitWriter.signed(change);
    bits.write(count, 8);
    bits.write(value, count);
  };
  const writeAc = (bits: BitWriter, block: number[], low: number) => {
    let run = 0;
    for (let k = 1; k < 64; k++) {
      const [count, value] = BitWriter.signed(divide(block[k] ?? 0, low));
      if (count === 0) run += 1;
      else {
        for (; run > 15; run -= 16) bits.write(0xf0, 8);
        bits.write((run << 4) | count, 8);
        bits.write(value, count);
        run = 0;
      }
    }
    if (run > 0) bits.write(0, 8);
  };
  const writeRefinement = (bits: BitWriter, block: number[]) => {
    const lastNew = block.findLastIndex((value, k) => k > 0 && Math.abs(value) === 1);
    let run = 0;
    let corrections: number[] = [];
    const flush = () => {
      for (const bit of corrections) bits.write(bit, 1);
      corrections = [];
    };
    for (let k = 1; k < 64; k++) {
      const value = block[k] ?? 0;
      if (value === 0) {
        run += 1;
        continue;
      }
      for (; run > 15 && k <= lastNew; run -= 16) {
        bits.write(0xf0, 8);
        flush();
      }
      if (Math.abs(value) > 1) corrections.push(Math.abs(value) & 1);
      else {
        bits.write((run << 4) | 1, 8);
        bits.write(value > 0 ? 1 : 0, 1);
        flush();
        run = 0;
      }
    }
    if (run > 0 || corrections.length > 0) {
      bits.write(0, 8);
      flush();
    }
  };

  const sequential = () =>
    scan(components, [0, 63, 0, 0], (bits, block, change) => {
      writeDc(bits, change);
      writeAc(bits, block, 0);
    });
  const refining = () => [
    ...scan(components, [0, 0, 0, 1], (bits, _block, change) => writeDc(bits, change)),
    ...components.flatMap((part) => scan([part], [1, 63, 0, 1], (bits, block) => writeAc(bits, block, 1))),
    ...scan(components, [0, 0, 1, 0], (bits, block) => bits.write((block[0] ?? 0) & 1, 1)),
    ...components.flatMap((part) => scan([part], [1, 63, 1, 0], writeRefinement)),
  ];

  const codes = [...Array<number>(7).fill(0), 255, ...Array<number>(8).fill(0), ...Array(255).keys()];
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  const frame = components.flatMap(({ x, y, index }) => [index + 1, (x << 4) | y, 0]);
  return Buffer.from([
    ...[0xff, 0xd8],
    ...segment(0xdb, 0, ...Array<number>(64).fill(2)),
    ...segment(0xc4, 0, ...codes),
    ...segment(0xc4, 0x10, ...codes),
    ...segment(0xdd, restart >> 8, restart & 255),
    ...segment(progressive ? 0xc2 : 0xc0, 8, ...size, 3, ...frame),
    ...(progressive ? refining() : sequential()),
    ...[0xff, 0xd9],
  ]);
};
