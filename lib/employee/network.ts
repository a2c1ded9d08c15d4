import ipaddr from "ipaddr.js";

/**
 * Returns the network that identifies a caller: an IPv4 address itself, or the first 64 bits of an IPv6 address,
 * because one subscriber has all the rest (RFC 6177).
 *
 * @param address as seen by the gateway; any other text is returned unchanged.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
};
