import { createServer } from "node:net";
import { expect, test } from "vitest";
import { callCommand } from "../steps/command.ts";
import { listen } from "../steps/http-server.ts";

/** The first message of a client that wants TLS. https://www.postgresql.org/docs/current/protocol-message-formats.html */
const sslRequest = "0000000804d2162f";

test("sends no name and password to a remote database without TLS", async () => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        received.push(bytes);
        if (received.length === 1) socket.write("N");
        else socket.destroy();
      });
  });
  const { port } = new URL(await listen(server));
  // leads to this machine, and is none of its names
  const settings = { DATABASE_URL: `postgres://somebody:secret@0.0.0.0:${port}/municipal` };
  const { status } = await callCommand(() => import("../../infra/cli/partner.ts"), settings, "list");
  const sent = Buffer.concat(received);
  expect([status, sent.subarray(0, 8).toString("hex")]).toEqual([1, sslRequest]);
  expect(sent.includes("somebody")).toBe(false);
});
