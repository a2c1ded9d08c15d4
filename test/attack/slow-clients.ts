import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type Finding, Tally } from "./finding.ts";
import type { Target } from "./target.ts";

/** Longer than the messenger allows for a request to arrive. */
const limitMs = 20_000;

const heads = [
  "POST /messages HTTP/1.1\r\nhost: messenger\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
  "POST /console/login HTTP/1.1\r\nhost: messenger\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 1000\r\n\r\nu",
  "GET /health HTTP/1.1\r\nhost: mess",
];

/** Sends a byte a second, which no idle timeout notices. @returns whether the server ends the connection in time. */
const dribble = async (socket: Socket, head: string): Promise<boolean> => {
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  socket.write(head);
  const timer = setInterval(() => socket.write("a"), 1_000);
  const ended = await Promise.race([
    once(socket, "close").then(() => true),
    new Promise<boolean>((resolve) => setTimeout(resolve, limitMs, false).unref()),
  ]);
  clearInterval(timer);
  socket.destroy();
  return ended;
};

/** Opens connections to the messenger that never send a whole request, while its health is read. */
export const attackSlowly = async ({ city }: Target, count: number): Promise<Finding[]> => {
  if (!city?.messenger) return [];
  const tally = new Tally("connections that send a byte a second");
  const { hostname, port } = new URL(city.messengerUrl);
  const slow = Array.from({ length: count }, (_, i) =>
    dribble(connect(Number(port), hostname), heads[i % heads.length] ?? ""),
  );
  const { ok } = await fetch(`${city.messengerUrl}/health`);
  if (!ok) tally.count("the messenger's health cannot be read meanwhile");
  for (const ended of await Promise.all(slow)) tally.count(ended ? undefined : "a connection is still open");
  return [tally.finding];
};
