import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server } from "node:net";
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

/** Makes the next imports of the product meet the city's old systems at this address. */
export const aimAt = (url: string): void => {
  vi.resetModules();
  vi.stubEnv("EMPLOYEE_SYSTEM_URL", url);
  vi.stubEnv("LEGACY_AUTH_URL", url);
  onTestFinished(() => void vi.unstubAllEnvs());
};
