import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createSocketServer,
  type Server,
  type Socket,
} from "node:net";
import { Worker } from "node:worker_threads";
import { onTestFinished, vi } from "vitest";

/** @returns the address of a server that listens on loopback until the test ends. */
export const listen = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** An HTTP server that listens on loopback until the test ends. */
export const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return listen(server);
};

/** A server that answers the first bytes of each connection below HTTP. */
export const serveRaw = (answer: (socket: Socket) => void): Promise<string> =>
  listen(
    createSocketServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => answer(socket));
    }),
  );

/** Listens without accepting connections: its thread is blocked, and its backlog of two is full. */
const deafServer = `
  const { parentPort } = require("node:worker_threads");
  const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

/** @returns the address of a server that answers no new connection until the test ends, as a lost host. */
export const startDeafServer = async (): Promise<string> => {
  const worker = new Worker(deafServer, { eval: true });
  const [port] = await once(worker, "message");
  const waiting = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
  onTestFinished(async () => {
    for (const socket of waiting) socket.on("error", () => {}).destroy();
    await worker.terminate();
  });
  await Promise.all(waiting.map((socket) => once(socket, "connect")));
  return `http://127.0.0.1:${port}`;
};

/** Makes the next imports of the product meet the city's old systems at this address. */
export const aimAt = (url: string): void => {
  vi.resetModules();
  vi.stubEnv("EMPLOYEE_SYSTEM_URL", url);
  vi.stubEnv("LEGACY_AUTH_URL", url);
  onTestFinished(() => void vi.unstubAllEnvs());
};
