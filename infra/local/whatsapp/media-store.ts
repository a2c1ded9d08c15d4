import { randomBytes } from "node:crypto";
import { createServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { listenOnLoopback } from "../loopback.ts";
import { createCertificate } from "./certificate.ts";

export type MediaStore = Awaited<ReturnType<typeof startMediaStore>>;

/** The oldest files are deleted above this, so that a long `npm run dev` does not run out of memory. */
const maxBytes = 512 * 1024 * 1024;

/**
 * Starts the TLS server to which clients upload encrypted media.
 *
 * @param status returns the HTTP status of the next upload; 200 stores it.
 * @param delayMs returns how long the next upload waits for its answer.
 */
export const startMediaStore = async (status: () => number, delayMs: () => number) => {
  const files = new Map<string, Buffer>();
  const token = randomBytes(12).toString("hex");
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

  const server = createServer({ key, cert }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "https://media");
    const serve = async () => {
      const file = files.get(pathname);
      if (request.method === "GET") return void response.writeHead(file ? 200 : 404).end(file);
      const uploaded = await buffer(request);
      await setTimeout(delayMs(), undefined, { ref: false });
      const wanted = searchParams.get("auth") === token ? status() : 401;
      response.writeHead(wanted, { "content-type": "application/json" });
      if (wanted !== 200) return void response.end(JSON.stringify({ error: { code: wanted } }));
      store(pathname, uploaded);
      response.end(JSON.stringify({ url: `https://${host}${pathname}`, direct_path: pathname }));
    };
    // the client may disconnect during its upload
    serve().catch(() => response.destroy());
  });
  const { address: host, stop } = await listenOnLoopback(server);

  return {
    /** Host and port. */
    host,
    /** Authorizes uploads. */
    token,
    /** The certificate to trust, in PEM. */
    ca: cert,
    /** Returns the encrypted file at a path. */
    get(directPath: string): Buffer {
      const file = files.get(directPath);
      if (!file) throw new Error("this file was not uploaded");
      return file;
    },
    stop,
  };
};
