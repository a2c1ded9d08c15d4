import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * A port on loopback that nobody has: the wanted one, or any for 0.
 *
 * @throws Error with the code EADDRINUSE when the wanted one is taken.
 */
export const findPort = async (wanted = 0): Promise<number> => {
  const probe = createServer().listen(wanted, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
};
