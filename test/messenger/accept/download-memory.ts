import { createHash } from "node:crypto";
import { openLoopback } from "../../steps/loopback.ts";
import { readPeakBytes } from "../../steps/peak-memory.ts";

// Run as a process of its own, whose memory is that of the download alone: downloads one URL after another
// and writes the hash of the last and the process's peak after each.
const hashes: string[] = [];
const peakBytes: number[] = [];
for (const url of process.argv.slice(2)) {
  const hash = createHash("sha256");
  const { body } = await openLoopback(url, { maxBytes: 200 * 1024 * 1024 });
  for await (const chunk of body) hash.update(chunk);
  hashes.push(hash.digest("hex"));
  peakBytes.push(readPeakBytes() ?? 0);
}
process.stdout.write(JSON.stringify({ hashes, peakBytes }));
