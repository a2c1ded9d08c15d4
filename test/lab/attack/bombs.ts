import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { sendFile, sendImage, sendMessage } from "#lib/routes/messaging.ts";
import { searchResidents } from "#lib/routes/resident.ts";
import type { Route } from "#lib/routes/route.ts";
import { readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { boundary, field, file, type WrittenPart, write } from "../../steps/multipart.ts";
import { pngChunk, pngEnd, pngHeader, pngSignature } from "../../steps/png.ts";
import { type Finding, Tally } from "./finding.ts";
import { apiOf, credentialOf, type Line, openLine, type Target } from "./target.ts";

interface Bomb {
  readonly about: string;
  readonly route: Route;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const mib = 1024 * 1024;
const phone = field("phone", "6281200000001");
const forms = { "content-type": `multipart/form-data; boundary=${boundary}` };
const nested = (depth: number) => `{"p_nama":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`)}}`;
const parts = (count: number): WrittenPart[] => Array.from({ length: count }, (_, i) => field(`f${i}`, "x"));

const bodies = (): Bomb[] => [
  { about: "JSON 30,000 deep", route: searchResidents, body: nested(30_000) },
  { about: "JSON with 5,000 keys", route: searchResidents, body: keys(5_000) },
  { about: "JSON over the limit", route: searchResidents, body: nested(100_000) },
  {
    about: "a number of 60,000 digits",
    route: searchResidents,
    body: `{"page_number":${"9".repeat(60_000)}}`,
  },
  { about: "JSON of 9 MB", route: sendMessage, body: keys(700_000) },
  {
    about: "a compressed body that is 64 MB",
    route: searchResidents,
    body: gzipSync(Buffer.alloc(64 * mib, 0x20)),
    headers: { "content-encoding": "gzip" },
  },
  ...[sendImage, sendFile].flatMap((route): Bomb[] => [
    { about: "20,000 parts", route, body: write([phone, ...parts(20_000)]), headers: forms },
    {
      about: "a part with a header of 1 MB",
      route,
      body: write([{ headers: [`X-Long: ${"a".repeat(mib)}`], content: "" }, phone]),
      headers: forms,
    },
    {
      about: "a part with 20,000 headers",
      route,
      body: write([{ headers: Array.from({ length: 20_000 }, (_, i) => `X-${i}: a`), content: "" }, phone]),
      headers: forms,
    },
    { about: "nothing but boundaries", route, body: `--${boundary}\r\n`.repeat(100_000), headers: forms },
    {
      about: "a boundary of 60,000 characters",
      route,
      body: "x",
      headers: { "content-type": `multipart/form-data; boundary=${"b".repeat(6_000)}` },
    },
  ]),
];

const noise = (side: number) =>
  sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } });

const png = (chunks: readonly Buffer[]) => Buffer.concat([pngSignature, ...chunks, pngEnd]);

const pictures = async (): Promise<Bomb[]> => {
  const emptyChunks = Array.from({ length: 300_000 }, () => pngChunk("IDAT", Buffer.alloc(0)));
  const progressive = await noise(1_400).jpeg({ quality: 90, progressive: true }).toBuffer();
  const files: [string, Buffer][] = [
    ["a PNG that claims 60,000 × 60,000 pixels", png([pngHeader(60_000, 60_000)])],
    ["a PNG of 300,000 empty chunks", png([pngHeader(100, 100), ...emptyChunks])],
    ["a progressive JPG of noise", progressive],
  ];
  return files.map(([about, content]) => ({
    about,
    route: sendImage,
    body: write([phone, field("compress", "true"), file("image", "a.png", content)]),
    headers: forms,
  }));
};

/** A full messenger may say so; anything else from 500 on is a failure, but for the contract's 500 for a boundary. */
const isFailure = (status: number, text: string): boolean => {
  if (status < 500) return false;
  const { code } = JSON.parse(text) as { code?: string };
  return !["SESSION_UNAVAILABLE", "session_unavailable"].includes(code ?? "") && !text.includes("boundary");
};

const throwAt = async (
  target: Target,
  line: Line,
  { route, body, headers }: Bomb,
): Promise<string | undefined> => {
  await target.pace();
  const all = { "content-type": "application/json", ...credentialOf(target, route.auth.kind), ...headers };
  try {
    const { status, text } = await line.send({ method: route.method, path: route.path, headers: all, body });
    return isFailure(status, text) ? `is answered with ${status}` : undefined;
  } catch (error) {
    return `gets no answer (${(error as { code?: string }).code})`;
  }
};

/** Sends bodies that are small to send and large to read, one after the other. */
export const attackWithBombs = async (target: Target): Promise<Finding[]> => {
  const tally = new Tally("bodies and images that grow when they are read");
  const bombs = [...bodies(), ...(target.city ? await pictures() : [])];
  for (const bomb of bombs.filter(({ route }) => target.city || route.auth.kind !== "basic")) {
    const line = openLine(target.unlimited[apiOf(bomb.route).name]);
    const reason = await throwAt(target, line, bomb);
    tally.count(reason && `${bomb.route.path}: ${bomb.about} ${reason}`);
    await line.close();
  }
  return [tally.finding];
};

/** A body that is too slow gets 408, as the process is busy with the others. */
const upheld = [201, 408, 503];

/**
 * Uploads pictures to be compressed and files of 3 to 4 MiB all at once to the messenger, as the send functions do.
 * Each is accepted or rejected with a status that says so, and a text is accepted afterwards.
 */
export const attackWithUploads = async (target: Target, count: number): Promise<Finding[]> => {
  const { city } = target;
  if (!city?.messenger) return [];
  const tally = new Tally("uploads of 3 to 4 MiB at once");
  const line = openLine(city.messengerUrl, { connections: count });
  const { token } = readLocalSecret("messenger-token", city.secrets);
  const picture = await noise(1_050).png().toBuffer();
  const file = randomBytes(4 * mib - 2_000);
  const upload = (submission: object, body: Buffer) =>
    line
      .send({
        method: "POST",
        path: "/messages",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/octet-stream",
          "x-submission": Buffer.from(JSON.stringify(submission)).toString("base64url"),
        },
        body,
      })
      .then(
        ({ status }) => (upheld.includes(status) ? undefined : `an upload is answered with ${status}`),
        ({ code }) => `an upload gets no answer (${code})`,
      );
  const all = Array.from({ length: count }, (_, i) => {
    const common = { sender: "api:attack", phone: "6281200000001" };
    return i % 5 === 0
      ? upload({ ...common, kind: "image", compress: true }, picture)
      : upload({ ...common, kind: "file" }, file);
  });
  for (const reason of await Promise.all(all)) tally.count(reason);
  const api = openLine(target.unlimited.messaging);
  const body = JSON.stringify({ phone: "6281200000001", message: "after the uploads" });
  const after = await throwAt(target, api, { about: "", route: sendMessage, body });
  tally.count(after && `a text after them ${after}`);
  await Promise.all([line.close(), api.close()]);
  return [tally.finding];
};
