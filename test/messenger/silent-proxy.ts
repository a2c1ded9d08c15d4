import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Starts a proxy to a local server that can stop forwarding; stopped with the test. */
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
    /** Stops forwarding on the current connections without closing them; new ones work. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
};
