import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";
import { badRequest } from "#lib/faults/invalid-input.ts";

/** What speaks against a connection to this address and port, in words for the caller; undefined if nothing. */
export type Policy = (address: string, port: number) => string | undefined;

const globalUnicast = ipaddr.parseCIDR("2000::/3");
const webPorts = [80, 443];

/**
 * Is this an address of the public internet? Private, loopback, link-local, shared, reserved, documentation
 * and multicast addresses are not, nor are IPv6 forms that carry an IPv4 address: mapped ones are judged as
 * the IPv4 address they mean, 6to4, Teredo and NAT64 are refused altogether.
 *
 * @param address as a resolver or a socket writes it. Short, octal and decimal forms are no addresses here.
 */
export const isPublic = (address: string): boolean => {
  // a zone (fe80::1%eth0) makes sense on a local link alone
  if (!isIP(address) || address.includes("%")) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  // ipaddr.js also calls unicast what nobody has been given yet; IANA gives out 2000::/3 only (RFC 4291 2.4)
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
};

/** The policy outside of tests: public addresses, on the two ports of the web. */
const publicWeb: Policy = (address, port) => {
  if (!webPorts.includes(port)) return "The URL must use port 80 or 443";
  if (isPublic(address)) return undefined;
  return "The URL's address is not public; give one that anyone on the internet can open";
};

/** Makes undici's connector for addresses that were checked, which no resolver is asked for again. */
type Dial = (addresses: LookupAddress[], timeoutMs: number) => buildConnector.connector;

const dialAddresses: Dial = (addresses, timeoutMs) =>
  buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    // of several addresses the first that answers: the task may lack a way out by IPv4 or by IPv6
    autoSelectFamily: true,
    lookup: (_hostname, { all }, done) => {
      const [first] = addresses;
      if (all || !first) done(null, addresses);
      else done(null, first.address, first.family);
    },
  });

interface GuardOptions {
  readonly policy?: Policy;
  readonly resolve?: (hostname: string) => Promise<LookupAddress[]>;
  readonly dial?: Dial;
  /** For the name, the connection and TLS together. */
  readonly timeoutMs?: number;
}

const withTimeout = async <T>(work: Promise<T>, timeoutMs: number): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the name took too long to resolve")), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/**
 * A connector for undici that looks at every address before it connects, and connects to the very addresses
 * it looked at: a name that answers differently a moment later (DNS rebinding) gains nothing. It stands at
 * `connect` because a `lookup` is never asked about a literal address. A name with both public and other
 * addresses is refused whole. Host header and TLS server name stay those of the URL.
 *
 * What may be reached is a parameter of this function and of nothing else: no setting can open the network.
 *
 * @returns a connector whose refusal is a Fault 400; other errors are the network's.
 */
export const guardConnector = ({
  policy = publicWeb,
  resolve = (hostname) => lookup(hostname, { all: true, order: "verbatim" }),
  dial = dialAddresses,
  timeoutMs = 3_000,
}: GuardOptions = {}): buildConnector.connector => {
  const findAddresses = async (hostname: string, port: number): Promise<LookupAddress[]> => {
    const family = isIP(hostname);
    const addresses = family
      ? [{ address: hostname, family }]
      : await withTimeout(resolve(hostname), timeoutMs);
    if (addresses.length === 0) throw new Error("the name has no address");
    for (const { address } of addresses) {
      const refusal = policy(address, port);
      if (refusal) throw badRequest(refusal);
    }
    return addresses;
  };

  return (options, callback) => {
    const startedAt = performance.now();
    const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
    findAddresses(options.hostname, port).then(
      (addresses) => {
        // at least 1: undici takes 0 for no limit at all
        const leftMs = Math.max(1, Math.ceil(timeoutMs - (performance.now() - startedAt)));
        dial(addresses, leftMs)(options, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
};
