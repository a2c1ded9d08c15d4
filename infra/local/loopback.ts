import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/**
 * Makes a server listen on loopback only.
 *
 * @param port 0 for any free port.
 * @param graceMs how long active connections may continue after `stop()`.
 * @throws Error with the code EADDRINUSE if the port is in use.
 */
export const listenOnLoopback = async (server: Server | TlsServer, port = 0, graceMs = 0) => {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const { port: chosen } = server.address() as AddressInfo;
  return {
    /** Host and port. */
    address: `127.0.0.1:${chosen}`,
    port: chosen,
    async stop(): Promise<void> {
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await once(server.close(), "close");
      clearTimeout(timer);
    },
  };
};

/** Makes an HTTP server listen on loopback, with the parameters of `listenOnLoopback`. */
export const serveHttp = async (...parameters: Parameters<typeof listenOnLoopback>) => {
  const { address, stop } = await listenOnLoopback(...parameters);
  return { url: `http://${address}`, stop };
};

/** Returns the wanted port if it is free. @throws Error with the code EADDRINUSE if it is in use. */
export const checkPort = async (wanted: number): Promise<number> => {
  const { port, stop } = await listenOnLoopback(createServer(), wanted);
  await stop();
  return port;
};

const [firstPort, ports] = [20_000, 12_768];
/** Processes that start together look in different places, because a port that is found is not taken yet. */
let next = (process.pid * 16) % ports;

/**
 * Finds a free port that no outgoing connection takes meanwhile: by default these begin at 32768 on Linux and 49152
 * elsewhere.
 */
export const findPort = (): Promise<number> => {
  next = (next + 1) % ports;
  return checkPort(firstPort + next).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    return findPort();
  });
};

/** The systems that other parts reach over a connection. */
export type System =
  | "database"
  | "secrets"
  | "audit anchors"
  | "legacy login"
  | "employee system"
  | "messenger"
  | "platform"
  /** A host of the platform to which media are uploaded. */
  | "media upload";

/** Returns the port at which the other parts reach a system that listens on `port`. */
export type Via = (system: System, port: number) => Promise<number>;

/** Returns the URL at which the other parts reach a system. */
export const atPort = async (url: string, system: System, via: Via | undefined): Promise<string> => {
  if (!via) return url;
  const { port } = new URL(url);
  return url.replace(`:${port}`, `:${await via(system, Number(port))}`);
};
