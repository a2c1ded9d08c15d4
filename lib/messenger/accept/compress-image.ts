import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { badRequest } from "#lib/faults/invalid-input.ts";
import { log } from "#lib/log.ts";
import { findImageHeader, type ImageHeader } from "#lib/messaging/image-type.ts";

const maxPixels = 40_000_000;
/** A 4K screenshot is 8.3. jimp takes 190 MiB for 12, and more at 16 bits: larger ones stay as they are. */
const maxPngPixels = 9_000_000;
const task = "compress-image";

interface CompressOptions {
  /** After that the image stays as it is. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

interface CompressedImage {
  readonly bytes: Buffer;
  readonly type: ImageHeader["type"];
}

/** Runs this very module in a thread: unbundled its file, bundled the bundle, whose entry must let it. */
const reencodeInWorker = (
  bytes: Buffer,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { task, bytes },
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const timer = setTimeout(() => reject(new Error("it takes too long")), timeoutMs);
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  worker.once("message", (jpeg: Uint8Array) =>
    resolve(Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.length)),
  );
  worker.once("error", reject);
  worker.once("exit", () => reject(new Error("the thread ended without a result")));
  return promise.finally(async () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    await worker.terminate();
  });
};

/** One image at a time, so that memory is bounded however many ask. */
let last: Promise<unknown> = Promise.resolve();

const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const mine = last.then(work);
  last = mine.catch(() => {});
  return mine;
};

/**
 * Makes an image smaller: JPG, quality 75, at most 1600 pixels on the longer side, upright, without metadata.
 * Works in a thread of its own, one image after another, and never fails for a picture that only some other
 * program can read: such a one, and one that would not get smaller, comes back as it went in.
 *
 * @throws Fault 400 if it is neither JPG nor PNG, or has more than 40 megapixels.
 * @throws the signal's reason once the signal is aborted.
 */
export const compressImage = async (
  bytes: Buffer,
  { timeoutMs = 20_000, signal }: CompressOptions = {},
): Promise<CompressedImage> => {
  const header = findImageHeader(bytes);
  if (!header) throw badRequest("The image must be a JPG or PNG");
  const { type, width, height } = header;
  const pixels = width * height;
  if (pixels > maxPixels) throw badRequest("The image must have at most 40 megapixels to be compressed");
  const original = { bytes, type };
  if (type === "image/png" && pixels > maxPngPixels) return original;
  try {
    const jpeg = await inTurn(async () => {
      signal?.throwIfAborted();
      return reencodeInWorker(bytes, timeoutMs, signal);
    });
    return jpeg.length < bytes.length ? { bytes: jpeg, type: "image/jpeg" } : original;
  } catch (error) {
    signal?.throwIfAborted();
    log.warn("image stays as it is", { reason: error instanceof Error ? error.message : "unknown" });
    return original;
  }
};

// imported here, not above: the codec is for the thread alone
if (!isMainThread && workerData?.task === task) {
  const { reencode } = await import("./reencode.ts");
  const jpeg = await reencode(Buffer.from(workerData.bytes));
  parentPort?.postMessage(jpeg);
}
