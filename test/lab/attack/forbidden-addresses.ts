import { BlockList, isIPv6 } from "node:net";
import fc from "fast-check";

/**
 * What a city's task must never reach, listed here again and not taken from the product.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const subnets: readonly (readonly [network: string, prefix: number])[] = [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
  ] as const),
  ...([
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
  ] as const),
  ...([
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ] as const),
  ...([
    ["::", 96],
    ["::ffff:0:0:0", 96],
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["100::", 64],
    ["2001::", 23],
    ["2001:db8::", 32],
  ] as const),
  ...([
    ["2002::", 16],
    ["3fff::", 20],
    ["5f00::", 16],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
  ] as const),
];

const list = new BlockList();
for (const [network, prefix] of subnets) list.addSubnet(network, prefix, isIPv6(network) ? "ipv6" : "ipv4");

export const isForbidden = (address: string): boolean =>
  list.check(address, isIPv6(address) ? "ipv6" : "ipv4");

const v4 = subnets.filter(([network]) => !isIPv6(network));
const bytesOf = (address: string) => address.split(".").map(Number);
const dotted = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".");

/** An IPv4 address that is forbidden, as a number of 32 bits. */
const forbiddenNumber: fc.Arbitrary<number> = fc
  .tuple(fc.constantFrom(...v4), fc.nat(0xffffffff))
  .map(([[network, prefix], random]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytesOf(network);
    const start = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
    return (start | (random & (0xffffffff >>> prefix))) >>> 0;
  });

const metadata = 0xa9fea9fe;
const known = fc.constantFrom(metadata, 0xa9feaa02, 0x7f000001, 0x0a000001, 0xc0a80101, 0, 0x64646464);
const number = fc.oneof(known, forbiddenNumber);

const hex = (n: number) => n.toString(16);
const mapped = (prefix: string) => (n: number) => `[${prefix}${hex(n >>> 16)}:${hex(n & 0xffff)}]`;
const fullWidth = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))).replaceAll(".", "。");

/** The ways in which a resolver, a browser or a library may write one IPv4 address. */
const spellings: readonly ((n: number) => string)[] = [
  dotted,
  (n) => String(n),
  (n) => `0x${hex(n)}`,
  (n) =>
    bytesOf(dotted(n))
      .map((byte) => `0${byte.toString(8)}`)
      .join("."),
  (n) =>
    bytesOf(dotted(n))
      .map((byte) => `0x${hex(byte)}`)
      .join("."),
  (n) => `${n >>> 24}.${n & 0xffffff}`,
  (n) => `${dotted(n)}.`,
  (n) => fullWidth(dotted(n)),
  (n) => dotted(n).replace(/\d/, (digit) => `%3${digit}`),
  mapped("::ffff:"),
  mapped("::"),
  mapped("::ffff:0:"),
  mapped("64:ff9b::"),
  (n) => `[2002:${hex(n >>> 16)}:${hex(n & 0xffff)}::]`,
];

/** Hosts of URLs that lead to a forbidden address. */
export const forbiddenHost: fc.Arbitrary<string> = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(fc.constantFrom(...spellings), number).map(([spell, n]) => spell(n)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("[::1]", "[fd00:ec2::254]", "[fe80::1]", "[ff02::1]", "[::]", "localhost"),
  },
);

/** Forbidden addresses as a resolver answers them. */
export const forbiddenAddress: fc.Arbitrary<string> = fc.oneof(
  number.map(dotted),
  fc.constantFrom("::1", "fd00:ec2::254", "fe80::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"),
);
