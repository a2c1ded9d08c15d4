import { randomBytes } from "node:crypto";
import { createServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { listenOnLoopback, type Via } from "../../loopback.ts";
import { type MediaHost, maxMediaHosts } from "../behaviour.ts";
import { createCertificate } from "./certificate.ts";

export type MediaStore = Awaited<ReturnType<typeof startMediaStore>>;

/** The oldest files are deleted above this, so that a long `npm run dev` does not run out of memory. */
const maxBytes = 512 * 1024 * 1024;

/** A port that refuses connections. */
const closedHost = "127.0.0.1:1";

/** What an upload was answered. */
interface Upload {
  /** Its place in media_conn's list, from 0. */
  readonly host: number;
  readonly status: number;
}

export interface MediaBehaviour {
  /** HTTP status of each host's uploads, or that it refuses connections; 200 stores them. */
  readonly mediaHosts: () => readonly MediaHost[];
  /** How long the next upload waits for its answer. */
  readonly delayMs: () => number;
  /** Whether the auth expires with this upload. */
  readonly expireAuth: () => boolean;
  readonly via?: Via | undefined;
}

const newToken = () => randomBytes(12).toString("hex");

/** Starts the TLS servers to which clients upload encrypted media. They share their files. */
export const startMediaStore = async ({ mediaHosts, delayMs, expireAuth, via }: MediaBehaviour) => {
  const files = new Map<string, Buffer>();
  const uploads: Upload[] = [];
  let token = newToken();
  const { key, cert } = createCertificate();

  const store = (path: string, file: Buffer) => {
    files.set(path, file);
    let stored = 0;
    for (const { length } of files.values()) stored += length;
    for (const [oldest, { length }] of files) {
      if (stored <= maxBytes) break;
      files.delete(oldest);
      stored -= length;
    }
  };

  const statusOf = (host: number, auth: string | null): number => {
    if (expireAuth()) token = newToken();
    const status = mediaHosts()[host];
    return auth === token && typeof status === "number" ? status : 401;
  };

  const startHost = async (_: unknown, host: number) => {
    const server = createServer({ key, cert }, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "https://media");
      const serve = async () => {
        const stored = files.get(pathname);
        if (request.method === "GET") return void response.writeHead(stored ? 200 : 404).end(stored);
        const status = statusOf(host, searchParams.get("auth"));
        uploads.push({ host, status });
        // an error is answered before the bytes have arrived; the connection stays open until they have
        if (status !== 200) response.writeHead(status, { "content-length": 2 }).write("{}");
        const file = await buffer(request);
        await setTimeout(delayMs(), undefined, { ref: false });
        if (status !== 200) return void response.end();
        store(pathname, file);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(
          JSON.stringify({ url: `https://${request.headers.host}${pathname}`, direct_path: pathname }),
        );
      };
      // the client may disconnect during its upload
      serve().catch(() => response.destroy());
    });
    const { port, stop } = await listenOnLoopback(server);
    return { address: `127.0.0.1:${(await via?.("media upload", port)) ?? port}`, stop };
  };
  const servers = await Promise.all(Array.from({ length: maxMediaHosts }, startHost));

  return {
    /** Host and port of each host, in order. */
    get hosts(): string[] {
      return mediaHosts().map((answer, host) =>
        answer === "unreachable" ? closedHost : (servers[host]?.address ?? closedHost),
      );
    },
    /** Authorizes uploads until it expires. */
    get token(): string {
      return token;
    },
    uploads: uploads as readonly Upload[],
    /** The certificate to trust, in PEM. */
    ca: cert,
    /** Returns the encrypted file at a path. */
    get(directPath: string): Buffer {
      const file = files.get(directPath);
      if (!file) throw new Error("this file was not uploaded");
      return file;
    },
    stop: () => Promise.all(servers.map(({ stop }) => stop())),
  };
};
