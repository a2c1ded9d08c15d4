import ipaddr from "ipaddr.js";

/**
 * Returns the network that identifies a caller: the first 24 bits of an IPv4 address, or the first 56 bits of an IPv6
 * address, because one customer often has all the rest (RFC 6177).
 *
 * @param address as seen by the gateway; any other text is returned unchanged.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed
    .toByteArray()
    .slice(0, parsed instanceof ipaddr.IPv6 ? 7 : 3)
    .join(".");
};
