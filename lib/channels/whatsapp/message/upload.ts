import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  DEFAULT_ORIGIN,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  getMediaKeys,
  MEDIA_PATH_MAP,
  S_WHATSAPP_NET,
  type WASocket,
} from "baileys";
import * as z from "zod/mini";
import { steadyNow } from "#lib/deadline.ts";
import { readText } from "#lib/read-text.ts";
import { ChannelFailure } from "../../channel.ts";

/** Media that can be read from the start more than once. */
export interface MediaSource {
  open(): AsyncIterable<Uint8Array>;
}

const silenceMs = 30_000;
const maxReplyBytes = 65_536;

const Reply = z.object({ url: z.string(), direct_path: z.string() });

interface Keys {
  readonly cipherKey: Uint8Array;
  readonly iv: Uint8Array;
  readonly macKey: Uint8Array;
}

/** Encrypts with AES-256-CBC and appends ten bytes of an HMAC over the ciphertext. */
async function* encrypt(media: MediaSource, { cipherKey, iv, macKey }: Keys): AsyncGenerator<Buffer> {
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const hmac = createHmac("sha256", macKey).update(iv);
  for await (const bytes of media.open()) {
    const encrypted = cipher.update(bytes);
    hmac.update(encrypted);
    if (encrypted.length > 0) yield encrypted;
  }
  const last = cipher.final();
  yield Buffer.concat([last, hmac.update(last).digest().subarray(0, 10)]);
}

/** Passes the media through, counting and hashing the bytes. */
const measure = (media: MediaSource) => {
  const hash = createHash("sha256");
  const measured = { bytes: 0, digest: () => hash.digest() };
  async function* open() {
    for await (const bytes of media.open()) {
      hash.update(bytes);
      measured.bytes += bytes.length;
      yield bytes;
    }
  }
  return { measured, source: { open } };
};

/** The auth of media_conn has expired, for all of its hosts. */
class AuthExpired extends Error {}

/** A media server has rejected these media, as others would. */
class MediaRejected extends Error {}
const rejections: readonly (number | undefined)[] = [400, 413, 415, 422];

const readReply = async (response: IncomingMessage): Promise<z.infer<typeof Reply>> => {
  if (response.statusCode === 401) throw new AuthExpired("the media server answered with status 401");
  const text = await readText(response, maxReplyBytes);
  try {
    return z.parse(Reply, JSON.parse(text));
  } catch {
    const failure = `the media server answered with status ${response.statusCode}`;
    throw rejections.includes(response.statusCode) ? new MediaRejected(failure) : new Error(failure);
  }
};

interface Post {
  readonly url: string;
  readonly bytes: number;
  readonly agent: WASocket["ws"]["config"]["fetchAgent"];
  readonly signal: AbortSignal;
}

const post = async ({ url, bytes, agent, signal }: Post, body: AsyncIterable<Buffer>) => {
  const outgoing = request(url, {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "content-length": bytes,
      origin: DEFAULT_ORIGIN,
    },
    ...(agent && { agent }),
    timeout: silenceMs,
    signal,
  });
  outgoing.on("timeout", () => outgoing.destroy(new Error("the media server does not respond")));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.on("error", reject);
  });
  // a server that rejects the upload answers before it has read everything; errors arrive at `answered`
  pipeline(Readable.from(body), outgoing, { signal }).catch(() => {});
  try {
    return await readReply(await answered);
  } finally {
    if (!outgoing.writableFinished) outgoing.destroy();
  }
};

/**
 * Encrypts media and uploads them, in constant memory and without a file.
 *
 * The URL of an upload contains the digest of its bytes, so the media are read twice: once for the digest,
 * once for the bytes. baileys writes a temporary file instead; on a full or read-only disk its write stream
 * emits an error without a listener, which ends the process.
 *
 * @returns the reference that a message contains.
 * @throws ChannelFailure "upload-failed" when no media server can accept them, "failed" when they are rejected.
 */
export const uploadMedia = async (
  socket: WASocket,
  media: MediaSource,
  kind: "image" | "document",
  signal: AbortSignal,
) => {
  const mediaKey = randomBytes(32);
  const { cipherKey, iv, macKey } = await getMediaKeys(mediaKey, kind);
  if (!macKey) throw new Error("no key for the media's authentication");
  const keys = { cipherKey, iv, macKey };

  const { measured, source } = measure(media);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of encrypt(source, keys)) {
    signal.throwIfAborted();
    hash.update(piece);
    bytes += piece.length;
  }
  const fileEncSha256 = hash.digest();
  const token = fileEncSha256.toString("base64url");

  /** Of the source, such as a lost database: no media server has caused it. */
  let unreadable: unknown;
  async function* open() {
    try {
      yield* media.open();
    } catch (error) {
      unreadable = error;
      throw error;
    }
  }

  /** Tries each host in turn. */
  const tryHosts = async ({ hosts, auth }: MediaConn) => {
    let cause: unknown;
    for (const hostname of hosts) {
      const url = `https://${hostname}${MEDIA_PATH_MAP[kind]}/${token}?auth=${encodeURIComponent(auth)}&token=${token}`;
      try {
        const agent = socket.ws.config.fetchAgent;
        return await post({ url, bytes, agent, signal }, encrypt({ open }, keys));
      } catch (error) {
        signal.throwIfAborted();
        if (unreadable) throw unreadable;
        // says more about these media than that another server is down
        if (!(cause instanceof MediaRejected)) cause = error;
        if (error instanceof AuthExpired) break;
      }
    }
    const isRejected = cause instanceof MediaRejected;
    throw new ChannelFailure(isRejected ? "failed" : "upload-failed", false, cause);
  };
  const tryConn = async (isFresh: boolean) => {
    const conn = await getMediaConn(socket, isFresh).catch((cause: unknown) => {
      throw new ChannelFailure("upload-failed", false, cause);
    });
    return tryHosts(conn);
  };

  // once with the cached hosts and auth, which may be minutes old, and once with new ones
  const reply = await tryConn(false).catch((failure: Error) => {
    signal.throwIfAborted();
    if (!(failure instanceof ChannelFailure) || failure.reason === "failed") throw failure;
    return tryConn(true);
  });
  return {
    url: reply.url,
    directPath: reply.direct_path,
    mediaKey,
    fileSha256: measured.digest(),
    fileEncSha256,
    fileLength: measured.bytes,
  };
};

/** The servers that accept media, the first one preferred. */
export interface MediaConn {
  readonly hosts: readonly string[];
  /** Authorizes uploads to all of them. */
  readonly auth: string;
  readonly validUntil: number;
}

const cached = new WeakMap<WASocket, MediaConn>();

/**
 * Queries the media servers, cached for as long as the platform says. baileys' own `refreshMediaConn` stores the promise
 * of its query: after one that fails, every later call fails until the next connection.
 *
 * @param isFresh queries again, whatever is cached.
 */
const getMediaConn = async (socket: WASocket, isFresh: boolean): Promise<MediaConn> => {
  const known = cached.get(socket);
  if (known && !isFresh && steadyNow() < known.validUntil) return known;
  const answer = await socket.query({
    tag: "iq",
    attrs: { type: "set", xmlns: "w:m", to: S_WHATSAPP_NET },
    content: [{ tag: "media_conn", attrs: {} }],
  });
  const node = getBinaryNodeChild(answer, "media_conn");
  const { auth = "", ttl = "0" } = node?.attrs ?? {};
  const hosts = getBinaryNodeChildren(node, "host").flatMap(({ attrs: { hostname } }) => hostname ?? []);
  const conn = { hosts, auth, validUntil: steadyNow() + Number(ttl) * 1_000 };
  cached.set(socket, conn);
  return conn;
};
