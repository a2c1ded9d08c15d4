import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";
import { deadline } from "#lib/deadline.ts";
import { badRequest } from "#lib/errors/invalid-input.ts";

/** @returns why a connection to this address and port is not allowed, for the caller; undefined if it is. */
export type Policy = (address: string, port: number) => string | undefined;

const globalUnicast = ipaddr.parseCIDR("2000::/3");
/** Of the 6bone, returned in 2006 (RFC 3701), which ipaddr.js counts as unicast. */
const returned = ipaddr.parseCIDR("3ffe::/16");
const webPorts = [80, 443];
const otherPort = "The URL must use port 80 or 443";

/**
 * Whether this is an address of the public internet. Private, loopback, link-local, shared, reserved,
 * documentation and multicast addresses are not. IPv4-mapped IPv6 addresses are checked as IPv4 addresses;
 * 6to4, Teredo and NAT64 are rejected.
 *
 * @param address as a resolver or a socket writes it. Short, octal and decimal forms are rejected.
 */
export const isPublic = (address: string): boolean => {
  // a zone (fe80::1%eth0) is valid on a local link only
  if (!isIP(address) || address.includes("%")) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  // ipaddr.js counts unassigned addresses as unicast; IANA assigns 2000::/3 only (RFC 4291, 2.4)
  return parsed.kind() === "ipv4" || (parsed.match(globalUnicast) && !parsed.match(returned));
};

export const publicWeb: Policy = (address, port) => {
  if (!webPorts.includes(port)) return otherPort;
  if (isPublic(address)) return undefined;
  return "The URL's address is not public; use one that anyone on the internet can open";
};

/** For callbacks of `npm run dev`: a backend on the same machine. */
export const publicOrLoopback: Policy = (address, port) =>
  isIP(address) && ipaddr.process(address).range() === "loopback" ? undefined : publicWeb(address, port);

/** The metadata services of a task, a host and an instance: they hand out credentials. */
const metadataRanges: readonly string[] = ["linkLocal", "unspecified", "multicast", "broadcast"];
const instanceMetadata = "fd00:ec2::254";

/** For addresses that an operator has written into a secret, such as a gateway within the city's network. */
export const notMetadata: Policy = (address) => {
  if (!isIP(address) || address.includes("%")) return "The address is not valid";
  const parsed = ipaddr.process(address);
  const isMetadata = metadataRanges.includes(parsed.range()) || parsed.toString() === instanceMetadata;
  return isMetadata ? "The address belongs to a metadata service" : undefined;
};

/** Makes an undici connector to addresses that were checked, without another lookup. */
type Dial = (addresses: LookupAddress[], timeoutMs: number) => buildConnector.connector;

const dialAddresses: Dial = (addresses, timeoutMs) =>
  buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: 0,
    // Happy Eyeballs: the task may have no route for IPv4 or for IPv6
    autoSelectFamily: true,
    lookup: (_hostname, { all }, done) => {
      const [first] = addresses;
      if (all || !first) done(null, addresses);
      else done(null, first.address, first.family);
    },
  });

type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const defaultTimeoutMs = 3_000;

/** Returns the addresses of a host; an address is its own. @param hostname as in a URL, or without the brackets of IPv6. */
export const resolveHost = async (
  hostname: string,
  timeoutMs = defaultTimeoutMs,
  resolve: Resolve = (name) => lookup(name, { all: true, order: "verbatim" }),
): Promise<LookupAddress[]> => {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  const family = isIP(address);
  return family ? [{ address, family }] : deadline(resolve(hostname), timeoutMs);
};

interface GuardOptions {
  readonly policy?: Policy;
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  /** For lookup, connection and TLS together. */
  readonly timeoutMs?: number;
}

/**
 * An undici connector that checks every address before it connects, and connects only to the checked ones: DNS
 * rebinding has no effect. It is a `connect` option because undici calls no `lookup` for literal addresses. A
 * name with both public and other addresses is rejected. Host header and TLS server name stay those of the URL.
 *
 * The policy is a parameter of this function only: no setting can open the internal network to what callers send. It
 * allows loopback only for callbacks, whose addresses the operator adds, of a messenger that listens there itself.
 *
 * @returns a connector that rejects with ApiError 400; other errors come from the network, or from a name whose address is
 * not allowed.
 */
export const guardConnector = ({
  policy = publicWeb,
  resolve,
  dial = dialAddresses,
  timeoutMs = defaultTimeoutMs,
}: GuardOptions = {}): buildConnector.connector => {
  const findAddresses = async (hostname: string, port: number): Promise<LookupAddress[]> => {
    const addresses = await resolveHost(hostname, timeoutMs, resolve);
    if (addresses.length === 0) throw new Error("the host name has no address");
    for (const { address } of addresses) {
      const reason = policy(address, port);
      // a name gets the answer of one that does not exist: callers must not find the names of the internal network
      if (reason)
        throw isIP(hostname) || reason === otherPort ? badRequest(reason) : new Error("a forbidden address");
    }
    return addresses;
  };

  return (options, callback) => {
    const startedAt = performance.now();
    const port = Number(options.port || (options.protocol === "https:" ? 443 : 80));
    findAddresses(options.hostname, port).then(
      (addresses) => {
        // at least 1: for undici 0 means no limit
        const leftMs = Math.max(1, Math.ceil(timeoutMs - (performance.now() - startedAt)));
        dial(addresses, leftMs)(options, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
};
