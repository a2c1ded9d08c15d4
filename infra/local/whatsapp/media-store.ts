import { randomBytes } from "node:crypto";
import { createServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback } from "../loopback.ts";
import { createCertificate } from "./certificate.ts";

export interface MediaStore {
  /** Host and port, as the client wants them. */
  readonly host: string;
  /** What an upload has to carry. */
  readonly token: string;
  /** The certificate to trust, in PEM. */
  readonly ca: string;
  /** @returns the encrypted file at a path. */
  get(directPath: string): Buffer;
  stop(): Promise<void>;
}

/** Older files go when there are more bytes: a long run of `npm run dev` must not fill the memory. */
const maxBytes = 512 * 1024 * 1024;

/**
 * The TLS server that clients upload encrypted media to.
 *
 * @param status what uploads are answered with at the moment; 200 stores them.
 */
export const startMediaStore = async (status: () => number): Promise<MediaStore> => {
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
      const wanted = searchParams.get("auth") === token ? status() : 401;
      response.writeHead(wanted, { "content-type": "application/json" });
      if (wanted !== 200) return void response.end(JSON.stringify({ error: { code: wanted } }));
      store(pathname, uploaded);
      response.end(JSON.stringify({ url: `https://${host}${pathname}`, direct_path: pathname }));
    };
    // a client that went away while its file came in
    serve().catch(() => response.destroy());
  });
  const { address: host, stop } = await listenOnLoopback(server);

  return {
    host,
    token,
    ca: cert,
    get(directPath) {
      const file = files.get(directPath);
      if (!file) throw new Error("no such file was uploaded");
      return file;
    },
    stop,
  };
};
