import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createConsole } from "../steps/console.ts";
import { buildEmptyServer } from "../steps/messenger-server.ts";

const listen = async (): Promise<URL> => {
  const server = buildEmptyServer({ timeouts: { receiveMs: 500, idleMs: 500 } });
  createConsole({}, server);
  return new URL(await server.listen({ host: "127.0.0.1", port: 0 }));
};

const login = (host: string) =>
  `POST /console/login HTTP/1.1\r\nhost: ${host}\r\norigin: http://localhost\r\n` +
  "content-type: application/x-www-form-urlencoded\r\ncontent-length: 4000\r\n\r\n";

test.each<[string, string, string]>([
  ["send a body slowly", login("localhost"), "x"],
  ["send the body of a rejected request slowly", login("rebound.example"), "x"],
  ["send a header slowly", "GET /console/login HTTP/1.1\r\nhost: localhost\r\nx-slow: ", "x"],
  ["send nothing", "", ""],
  ["send nothing after a request", "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n", ""],
])("300 connections that %s are all closed", async (_, first, drip) => {
  const { port, hostname } = await listen();
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname).resume());
  const dripping = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(drip);
  }, 100);
  onTestFinished(() => {
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
  });
  // a reset is a way to close; `once` of node:events would reject
  const closed = sockets.map(
    (socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve)),
  );
  for (const socket of sockets) socket.write(first);
  expect(await Promise.all(closed)).toHaveLength(300);
});
