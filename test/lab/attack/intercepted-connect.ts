import { AsyncLocalStorage } from "node:async_hooks";
import type { LookupAddress, LookupOptions } from "node:dns";
import { Socket } from "node:net";

interface ConnectOptions {
  readonly host?: string;
  readonly lookup?: (
    hostname: string,
    options: LookupOptions,
    done: (error: Error | null, addresses: LookupAddress[]) => void,
  ) => void;
}

type Connect = (this: Socket, ...parameters: unknown[]) => Socket;

const contexts = new AsyncLocalStorage<{ readonly dialled: string[]; readonly port: number }>();
const original = Socket.prototype.connect as Connect;

/** `net.connect` passes its normalized arguments as one array. */
const optionsIn = ([first]: readonly unknown[]): ConnectOptions =>
  (Array.isArray(first) ? first[0] : first) as ConnectOptions;

const addressesOf = ({ host = "", lookup }: ConnectOptions): string[] => {
  if (!lookup) return [host];
  let found: string[] = [];
  // the guard's lookup answers at once: it has checked the addresses before
  lookup(host, { all: true }, (_, addresses) => {
    found = addresses.map(({ address }) => address);
  });
  return found;
};

/**
 * Runs work whose connections, wherever they would lead, go to a server on this machine. Other connections of this
 * process are not affected.
 *
 * @param port of the server on 127.0.0.1. @returns the addresses to which the work would have connected.
 */
export const interceptConnects = async (port: number, work: () => Promise<unknown>): Promise<string[]> => {
  const dialled: string[] = [];
  Socket.prototype.connect = function connect(this: Socket, ...parameters: unknown[]) {
    const context = contexts.getStore();
    if (!context) return original.apply(this, parameters);
    context.dialled.push(...addressesOf(optionsIn(parameters)));
    return original.call(this, { host: "127.0.0.1", port: context.port });
  } as Socket["connect"];
  try {
    await contexts.run({ dialled, port }, work);
    return dialled;
  } finally {
    Socket.prototype.connect = original as Socket["connect"];
  }
};
