import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCertificate } from "../../../infra/local/whatsapp/media/certificate.ts";
import { listen, serve, serveRaw } from "../../steps/http-server.ts";
import { download, openLoopback } from "../../steps/loopback.ts";

const file = randomBytes(300_000);

test("downloads a file unchanged, with its type and name", async () => {
  const url = await serve((_request, response) => {
    response.setHeader("content-type", "Application/PDF; charset=binary");
    response.end(file);
  });
  const opened = await openLoopback(`${url}/letters/Surat%20Edaran.pdf?v=2#top`);
  expect(opened).toMatchObject({ contentType: "application/pdf", fileName: "Surat Edaran.pdf" });
  expect((await buffer(opened.body)).equals(file)).toBe(true);
});

test("returns no type and name if server and URL contain none", async () => {
  const url = await serve((_request, response) => void response.end("x"));
  const { contentType, fileName, close } = await openLoopback(url);
  await close();
  expect([contentType, fileName]).toEqual([undefined, undefined]);
});

test.each([
  ["gzip", gzipSync(file)],
  ["x-gzip", gzipSync(file)],
  ["GZIP", gzipSync(file)],
  ["deflate", deflateSync(file)],
  ["br", brotliCompressSync(file)],
  ["identity", file],
])("decodes a file with the coding %s", async (coding, bytes) => {
  const url = await serve((_request, response) => {
    response.setHeader("content-encoding", coding);
    response.end(bytes);
  });
  expect((await download(url)).equals(file)).toBe(true);
});

test.each(["zstd", "gzip, gzip", "constructor"])("rejects the coding %s", async (coding) => {
  const url = await serve((_request, response) => {
    response.setHeader("content-encoding", coding);
    response.end(file);
  });
  await expect(download(url)).rejects.toMatchObject({ status: 400, code: "invalid_request" });
});

test("sends no headers but its user agent, after a redirect too", async () => {
  const seen: IncomingHttpHeaders[] = [];
  const url = await serve((request, response) => {
    seen.push(request.headers);
    if (request.url === "/file") response.end("x");
    else response.writeHead(302, { location: "/file", "set-cookie": "a=b" }).end();
  });
  const port = new URL(url).port;
  await download(`http://files.test:${port}/`);
  const headers = {
    host: `files.test:${port}`,
    connection: expect.any(String),
    accept: "*/*",
    "accept-encoding": "identity",
    "user-agent": "municipal-messaging-gateway/1.0",
  };
  expect(seen).toEqual([headers, headers]);
});

test.each([301, 302, 303, 307, 308])("follows a redirect by %i and uses the last name", async (status) => {
  const url = await serve((request, response) => {
    if (request.url === "/b/real.png") response.end(file);
    else response.writeHead(status, { location: "../b/real.png" }).end("moved");
  });
  const opened = await openLoopback(`${url}/a/old.png`);
  expect(opened.fileName).toBe("real.png");
  expect((await buffer(opened.body)).equals(file)).toBe(true);
});

test("follows three redirects, not four", async () => {
  let requests = 0;
  const url = await serve(({ url: path = "" }, response) => {
    requests += 1;
    const left = Number(path.slice(1));
    if (left === 0) response.end("here");
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  expect((await download(`${url}/3`)).toString()).toBe("here");
  requests = 0;
  await expect(download(`${url}/4`)).rejects.toThrow("redirects more than 3 times");
  expect(requests).toBe(4);
});

test.each([201, 204, 206, 300, 304, 401, 403, 404, 410, 429, 500, 503])(
  "rejects the status %i and reports it",
  async (status) => {
    const url = await serve((_request, response) => void response.writeHead(status).end());
    await expect(download(url)).rejects.toMatchObject({
      ...{ status: 400, code: "invalid_request", message: expect.stringContaining(` ${status} `) },
    });
  },
);

test("follows a redirect to a path in raw UTF-8", async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    asked.push(request.url);
    if (request.url === "/surat-é.pdf" || request.url === "/surat-%C3%A9.pdf") return void response.end("x");
    response.writeHead(302, { location: Buffer.from("/surat-é.pdf").toString("latin1") }).end();
  });
  const { fileName, close } = await openLoopback(`${url}/a`);
  await close();
  expect([asked.at(-1), fileName]).toEqual(["/surat-%C3%A9.pdf", "surat-é.pdf"]);
});

test("names what is wrong with the TLS of a server", async () => {
  const { key, cert } = createCertificate();
  const signed = await listen(createServer({ key, cert }, (_request, response) => void response.end("x")));
  await expect(download(signed.replace("http:", "https:"))).rejects.toThrow("not of a public authority");
  const plain = await serve((_request, response) => void response.end("x"));
  await expect(download(plain.replace("http:", "https:"))).rejects.toThrow("current version of TLS");
});

test("rejects a redirect without a valid location", async () => {
  const nowhere = await serve((_request, response) => void response.writeHead(302).end());
  await expect(download(nowhere)).rejects.toThrow("answered 302");
  const broken = await serve(
    (_request, response) => void response.writeHead(302, { location: "http://" }).end(),
  );
  await expect(download(broken)).rejects.toThrow("is invalid");
});

const unreachable = {
  ...{ status: 400, code: "invalid_request", message: expect.stringContaining("could not be fetched") },
};

test.each<[string, (socket: Socket) => void]>([
  ["resets at once", (socket) => socket.resetAndDestroy()],
  ["closes at once", (socket) => socket.end()],
  ["does not speak HTTP", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
  [
    "resets within the body",
    (socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", () => socket.resetAndDestroy()),
  ],
  ["closes within the body", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")],
  [
    "closes within chunks",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc"),
  ],
  [
    "sends contradicting headers",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc"),
  ],
  ["sends headers without end", (socket) => socket.end(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}`)],
  [
    "sends invalid compressed data",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc"),
  ],
])("fails with the same error when the server %s", async (_what, answer) => {
  await expect(download(await serveRaw(answer))).rejects.toMatchObject(unreachable);
});

test("fails with that error when a compressed file is truncated", async () => {
  const url = await serve((_request, response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync(file).subarray(0, 100_000));
  });
  await expect(download(url)).rejects.toMatchObject(unreachable);
});

test("fails with that error when the connection is refused", async () => {
  await expect(download("http://127.0.0.1:1/")).rejects.toMatchObject(unreachable);
});

test("closes the connection when it is closed unread, and can be closed again", async () => {
  let closed = false;
  const url = await serve((_request, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.write("a");
  });
  const { close } = await openLoopback(url);
  await close();
  await close();
  await expect.poll(() => closed).toBe(true);
});

test("closes the connection when its reader stops early", async () => {
  let closed = false;
  const url = await serve((_request, response) => {
    response.on("close", () => {
      closed = true;
    });
    response.write(file);
  });
  const { body } = await openLoopback(url);
  for await (const _chunk of body) break;
  await expect.poll(() => closed).toBe(true);
});
