import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a server on this machine that can fall silent; gone with the test. */
export const startSilentProxy = async (port: number) => {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.push(socket);
      socket.on("error", () => {}).once("close", () => [near, far].forEach((each) => void each.destroy()));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (server.address() as AddressInfo).port,
    /** Lets nothing pass any more on the connections that there are; they stay open, and new ones work. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
};
