// Loaded into a function's process (`node --import`): the names that a stage's network and its DNS would know.
// The query of this module's address says where each of them is on this machine:
// `messenger.municipal-local.internal:8080=127.0.0.1:41234`. The function's own settings stay as the template has them.
import { Socket } from "node:net";

interface Destination {
  host?: string;
  port?: number | string;
}

const places = new URL(import.meta.url).searchParams;
const connect = Socket.prototype.connect;

/** `node:http` connects by a list with options in it, others by options, or by a port and a host. */
const findDestination = ([first, second]: readonly unknown[]): Destination | undefined => {
  if (typeof first === "number" && typeof second === "string") return { host: second, port: first };
  const options = Array.isArray(first) ? first[0] : first;
  return typeof options === "object" && options !== null ? options : undefined;
};

Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  const destination = findDestination(args);
  const place = places.get(`${destination?.host}:${destination?.port}`.toLowerCase());
  if (!destination || !place) return Reflect.apply(connect, this, args);
  const { hostname: host, port } = new URL(`http://${place}`);
  if (typeof args[0] === "number")
    return Reflect.apply(connect, this, [Number(port), host, ...args.slice(2)]);
  Object.assign(destination, { host, port: Number(port) });
  return Reflect.apply(connect, this, args);
} as typeof connect;
