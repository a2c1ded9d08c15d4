import type { Rows } from "./jpeg-decoder.ts";

interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and an opaque alpha for each pixel. */
  readonly data: Buffer;
}

/** Where a pixel goes so that the picture stands upright, by EXIF orientation (CIPA DC-008, table 6). */
const turn = (
  orientation: number,
  width: number,
  height: number,
): ((x: number, y: number) => [number, number]) => {
  const [right, bottom] = [width - 1, height - 1];
  switch (orientation) {
    case 2:
      return (x, y) => [right - x, y];
    case 3:
      return (x, y) => [right - x, bottom - y];
    case 4:
      return (x, y) => [x, bottom - y];
    case 5:
      return (x, y) => [y, x];
    case 6:
      return (x, y) => [bottom - y, x];
    case 7:
      return (x, y) => [bottom - y, right - x];
    case 8:
      return (x, y) => [y, right - x];
    default:
      return (x, y) => [x, y];
  }
};

/** For each of `from` pixels: the one of `to` that it falls into, and the share that falls into the next one. */
const share = (from: number, to: number) => {
  const into = new Int32Array(from);
  const rest = new Float32Array(from);
  const ratio = to / from;
  for (let i = 0; i < from; i++) {
    into[i] = Math.min(to - 1, Math.floor(i * ratio));
    const end = (i + 1) * ratio;
    const over = end - ((into[i] as number) + 1);
    rest[i] = over > 1e-6 && (into[i] as number) + 1 < to ? over / ratio : 0;
  }
  return { into, rest };
};

/**
 * Makes a picture small by averaging, row by row, and turns it upright on the way.
 *
 * @param maxSide of the result, in pixels. A smaller picture keeps its size.
 * @param orientation EXIF orientation, 1 to 8.
 */
export const shrink = ({ width, height, readRow }: Rows, maxSide: number, orientation: number): Bitmap => {
  const ratio = Math.min(1, maxSide / Math.max(width, height));
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  const place = turn(orientation, w, h);
  const upright = orientation > 4 ? { width: h, height: w } : { width: w, height: h };
  const data = Buffer.alloc(w * h * 4, 255);
  const columns = share(width, w);
  const lines = share(height, h);
  const weight = (w / width) * (h / height);
  const row = new Uint8Array(width * 3);
  const narrow = new Float32Array(w * 3);
  let current = new Float32Array(w * 3);
  let following = new Float32Array(w * 3);

  const emit = (y: number) => {
    for (let x = 0; x < w; x++) {
      const [toX, toY] = place(x, y);
      const at = (toY * upright.width + toX) * 4;
      for (let c = 0; c < 3; c++) data[at + c] = Math.min(255, (current[x * 3 + c] as number) * weight + 0.5);
    }
    [current, following] = [following, current.fill(0)];
  };

  for (let y = 0; y < height; y++) {
    readRow(y, row);
    narrow.fill(0);
    for (let x = 0; x < width; x++) {
      const to = (columns.into[x] as number) * 3;
      const rest = columns.rest[x] as number;
      for (let c = 0; c < 3; c++) {
        const value = row[x * 3 + c] as number;
        narrow[to + c] = (narrow[to + c] as number) + value * (1 - rest);
        if (rest > 0) narrow[to + 3 + c] = (narrow[to + 3 + c] as number) + value * rest;
      }
    }
    const rest = lines.rest[y] as number;
    for (let i = 0; i < narrow.length; i++) {
      const value = narrow[i] as number;
      current[i] = (current[i] as number) + value * (1 - rest);
      following[i] = (following[i] as number) + value * rest;
    }
    const line = lines.into[y] as number;
    if (y + 1 === height || lines.into[y + 1] !== line) emit(line);
  }
  return { ...upright, data };
};
