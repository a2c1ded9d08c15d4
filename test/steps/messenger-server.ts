import { onTestFinished } from "vitest";
import { buildServer, type ServerOptions } from "#lib/messenger/server.ts";

/** Builds the server of a messenger that has no messages and accepts none. It is closed when the test ends. */
export const buildEmptyServer = (more: Partial<ServerOptions> = {}) => {
  const server = buildServer({
    findTokens: async () => [],
    accept: () => Promise.reject(new Error("it accepts nothing")),
    acceptBatch: async () => [],
    findState: async () => undefined,
    listMessages: async () => ({ messages: [], next: null }),
    cancel: async () => undefined,
    applyEvents: async () => undefined,
    findConnection: () => ({}),
    checkHealth: async () => ({ database: true, leader: true, platform: "open", paused: false }),
    ...more,
  });
  onTestFinished(() => server.close());
  return server;
};
