import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { secretTable } from "#lib/secrets/table/table.ts";
import { keepPaired } from "../../infra/local/messenger/messenger.ts";
import { memoryFlags, memorySettings } from "../../infra/local/messenger/process.ts";
import type { Platform } from "../../infra/local/whatsapp/platform.ts";
import { citizen, settingsOf, startFake } from "../channels/whatsapp/linked-whatsapp.ts";
import { createMessengerDatabase } from "../fleet/messenger-database.ts";
import { serve } from "../steps/http-server.ts";
import type { Assignment } from "./large-file-process.ts";

const mebibyte = 1024 * 1024;
const limitBytes = 50 * mebibyte;
/** The memory limit of the container; idle the task uses 160 MiB. */
const maxPeakBytes = 256 * mebibyte;
const token = randomBytes(24).toString("base64url");
const pool = randomBytes(mebibyte + 1);

/** Generates bytes in pieces that differ from each other. */
function* pieces(bytes: number) {
  for (let at = 0; at < bytes; at += mebibyte) {
    const shift = (at / mebibyte) * 17;
    const piece = Buffer.concat([pool.subarray(shift), pool.subarray(0, shift)]);
    yield piece.subarray(0, Math.min(mebibyte, bytes - at));
  }
}

const hashOf = (bytes: number) => {
  const hash = createHash("sha256");
  for (const piece of pieces(bytes)) hash.update(piece);
  return hash.digest("hex");
};

/** A web server whose paths contain the size of the file and whether to send Content-Length. */
const serveFiles = () =>
  serve((request, response) => {
    const [, how, bytes] = request.url?.split("/") ?? [];
    if (how === "announced") response.setHeader("content-length", Number(bytes));
    response.setHeader("content-type", "application/pdf");
    // the client stops reading a file that is too large
    pipeline(Readable.from(pieces(Number(bytes))), response).catch(() => {});
  });

/** Starts a messenger in another process, to measure its memory; stopped with the test. */
const startProcess = async (platform: Platform) => {
  const database = await createMessengerDatabase();
  const { rootKey = Buffer.alloc(0), ...settings } = settingsOf(platform);
  const assignment: Assignment = {
    databaseUrl: database.url,
    encryptionKey: secretTable["messenger-key"].mint(),
    settings: { ...settings, rootKey: Buffer.from(rootKey).toString("base64") },
    token,
  };
  const script = new URL("large-file-process.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [...memoryFlags, script, JSON.stringify(assignment)], {
    env: { ...memorySettings, LOG_LEVEL: "error" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.stdin.end();
    await exited;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const readLine = async () => JSON.parse((await lines.next()).value ?? "{}");
  const { url } = await readLine();
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: response.status, json: (await response.json()) as any };
  };
  return {
    url: url as string,
    ask,
    sendFile: (address: string) =>
      ask("/messages", { sender: "api:test", kind: "file", phone: citizen, url: address }),
    async peakBytes(): Promise<number> {
      child.stdin.write("\n");
      return (await readLine()).peakBytes;
    },
  };
};

let platform: Platform;
let task: Awaited<ReturnType<typeof startProcess>>;
let files: string;

beforeEach(async () => {
  platform = await startFake();
  [task, files] = await Promise.all([startProcess(platform), serveFiles()]);
  const paired = new AbortController();
  const pairing = keepPaired(platform, { url: task.url, token }, paired.signal);
  await platform.until(() => platform.sockets.loggedIn > 0, 30_000);
  paired.abort();
  await pairing;
});

test("a file of 50 MiB from a URL arrives intact, in bounded memory", async () => {
  const { status, json } = await task.sendFile(`${files}/announced/${limitBytes}/arsip.pdf`);
  expect(status).toBe(201);
  await platform.until(() => platform.phone(citizen).find(json.id) !== undefined, 40_000);
  const { media } = platform.phone(citizen).find(json.id) ?? {};
  expect([media?.fileName, media?.mimetype, media?.lengthBytes]).toEqual([
    "arsip.pdf",
    "application/pdf",
    limitBytes,
  ]);
  expect(media && createHash("sha256").update(media.bytes).digest("hex")).toBe(hashOf(limitBytes));
  expect(await task.peakBytes()).toBeLessThan(maxPeakBytes);
});

test.each(["announced", "unannounced"])(
  "a file of one byte more is 413 with its size %s, and nothing is sent",
  async (how) => {
    const { status, json } = await task.sendFile(`${files}/${how}/${limitBytes + 1}/arsip.pdf`);
    expect([status, json.code]).toEqual([413, "payload_too_large"]);
    expect(platform.phone(citizen).inbox).toEqual([]);
    expect(await task.peakBytes()).toBeLessThan(maxPeakBytes);
  },
);
