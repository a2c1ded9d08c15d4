import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * Finds a free port on loopback.
 *
 * @param wanted 0 for any free port.
 * @throws Error with the code EADDRINUSE if the wanted port is in use.
 */
export const findPort = async (wanted = 0): Promise<number> => {
  const probe = createServer().listen(wanted, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
};
