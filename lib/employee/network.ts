import ipaddr from "ipaddr.js";

/**
 * The network that a caller can be told apart by: an IPv4 address itself, of an IPv6 address the first 64
 * bits, since one subscriber holds all the rest (RFC 6177).
 *
 * @param address as the gateway saw it; a text that is no address stands for itself.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
};
