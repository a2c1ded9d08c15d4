import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import sharp from "sharp";
import { Pool } from "undici";
import { readPeakBytes } from "../../steps/peak-memory.ts";
import { type Scene, startScene } from "./scene.ts";

const mebibyte = 1024 * 1024;
const uploadBytes = 4 * mebibyte;
/** Accepted messages that are not sent yet. */
const maxWaiting = 500;
const atOnce = 16;

interface MemorySample {
  readonly sent: number;
  readonly residentMb: number;
  readonly heapMb: number;
  /** Buffers, which are outside of the heap. */
  readonly externalMb: number;
}

interface MemoryOptions {
  readonly messages: number;
  readonly recipients: number;
  /** Samples during the sends. */
  readonly steps: number;
  readonly uploads: { readonly compressed: number; readonly plain: number };
  readonly onSample?: (sample: MemorySample) => void;
}

interface MemoryFigures {
  readonly samples: readonly MemorySample[];
  readonly peakMb: number;
  readonly attackPeakMb: number;
  /** Answers to the uploads by status. */
  readonly answers: Readonly<Record<string, number>>;
}

const toMb = (bytes: number) => Number((bytes / mebibyte).toFixed(1));

/** The peak of resident memory since the start or the last `resetPeak`. */
const readPeakMb = (pid: number) => Math.round((readPeakBytes(pid) ?? 0) / mebibyte);

const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

/** Reads the memory of the messenger after a garbage collection. */
const readMemory = async ({ fleet }: Scene, sent: number): Promise<MemorySample> => {
  // not by the place of the next line: the oldest ones are dropped
  fleet.lines.length = 0;
  process.kill(fleet.pids()[0] ?? 0, "SIGUSR2");
  for (;;) {
    const line = fleet.lines.find((text) => text.includes('"message":"memory"'));
    const { rss, heapUsed, external } = JSON.parse(line ?? "{}") as NodeJS.MemoryUsage;
    if (line) return { sent, residentMb: toMb(rss), heapMb: toMb(heapUsed), externalMb: toMb(external) };
    await setTimeout(20);
  }
};

const readSent = async ({ sql }: Scene): Promise<number> =>
  (await sql<{ sent: number }[]>`select count(sent_at)::int as sent from messaging.message`)[0]?.sent ?? 0;

const post = async (task: Pool, headers: Record<string, string>, body: string | Buffer): Promise<number> => {
  const answer = await task.request({ method: "POST", path: "/messages", headers, body });
  await answer.body.dump();
  return answer.statusCode;
};

/** Sends texts to all numbers in turn, and samples the memory in equal steps. */
const sendTexts = async (
  scene: Scene,
  task: Pool,
  { messages, steps, onSample = () => {} }: Pick<MemoryOptions, "messages" | "steps" | "onSample">,
) => {
  const { token, numbers } = scene;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const samples: MemorySample[] = [];
  const take = async (at: number) => {
    const sample = await readMemory(scene, at);
    samples.push(sample);
    onSample(sample);
  };
  await take(0);
  let next = 0;
  let sent = 0;
  const work = async () => {
    while (next < messages) {
      if (next - sent >= maxWaiting) {
        await setTimeout(20);
        continue;
      }
      const text = `Antrean nomor ${next}`;
      const phone = numbers[next++ % numbers.length];
      const status = await post(
        task,
        headers,
        JSON.stringify({ sender: "api:bench", kind: "text", phone, text }),
      );
      if (status !== 201) throw new Error(`the messenger answered ${status}`);
    }
  };
  const working = Promise.all(Array.from({ length: atOnce }, work));
  while (sent < messages) {
    await Promise.race([setTimeout(100), working.then(() => setTimeout(100))]);
    sent = await readSent(scene);
    if (sent >= (messages / steps) * samples.length) await take(sent);
  }
  await working;
  return samples;
};

/** Uploads images at once: some to be compressed, more as they are. @returns the answers by status. */
const attack = async ({ token, numbers }: Scene, task: Pool, compressed: number, plain: number) => {
  const side = 1_100;
  const noise = await sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const image = Buffer.concat([noise, Buffer.alloc(Math.max(0, uploadBytes - noise.length))]);
  const answers: Record<string, number> = {};
  const upload = async (compress: boolean) => {
    const submission = { sender: "api:bench", kind: "image", phone: numbers[0], compress };
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/octet-stream",
      "x-submission": Buffer.from(JSON.stringify(submission)).toString("base64url"),
    };
    const status = await post(task, headers, image).catch(() => 0);
    answers[status] = (answers[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: compressed }, () => upload(true)));
  await Promise.all(Array.from({ length: plain }, () => upload(false)));
  return answers;
};

/** Measures the memory of a messenger while it sends texts, and while uploads flood it. */
export const measureMemory = async (options: MemoryOptions): Promise<MemoryFigures> => {
  const { recipients, uploads } = options;
  const sampler = new URL("memory-sampler.ts", import.meta.url).href;
  const scene = await startScene(recipients, { variables: { NODE_OPTIONS: `--import ${sampler}` } });
  const task = new Pool(scene.fleet.urls()[0] ?? "", { connections: 200 });
  try {
    const pid = scene.fleet.pids()[0] ?? 0;
    const samples = await sendTexts(scene, task, options);
    const peakMb = readPeakMb(pid);
    resetPeak(pid);
    const answers = await attack(scene, task, uploads.compressed, uploads.plain);
    return { samples, peakMb, attackPeakMb: readPeakMb(pid), answers };
  } finally {
    await task.destroy();
    await scene.stop();
  }
};
