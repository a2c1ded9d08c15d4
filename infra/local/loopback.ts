import { once } from "node:events";
import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface Loopback {
  /** Host and port. */
  readonly address: string;
  /** Also closes active connections. */
  stop(): Promise<void>;
}

/** Makes a server listen on loopback only. @param port 0 for any free port. */
export const listenOnLoopback = async (server: Server | TlsServer, port = 0): Promise<Loopback> => {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
};
