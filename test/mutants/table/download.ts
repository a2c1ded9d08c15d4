import type { Mutant } from "../mutant.ts";

const limits = ["test/messenger/accept/download-limits.test.ts"];
const guard = ["test/messenger/accept/address-guard.test.ts"];

export const download: readonly Mutant[] = [
  {
    breaks: "A download of exactly the allowed size is 413",
    file: "lib/messenger/accept/download.ts",
    find: "if (bytes > maxBytes) throw",
    replace: "if (bytes >= maxBytes) throw",
    tests: limits,
  },
  {
    breaks: "What packing adds to random bytes makes them too large",
    file: "lib/messenger/accept/download.ts",
    find: "Math.ceil(maxBytes * 1.02) + 1024",
    replace: "Math.ceil(maxBytes)",
    tests: limits,
  },
  {
    breaks: "The announced size of packed bytes is compared with the limit of unpacked ones",
    file: "lib/messenger/accept/download.ts",
    find: 'findCoding(response) === "identity" ? maxBytes : maxCompressedBytes(maxBytes)',
    replace: "maxBytes",
    tests: limits,
  },
  {
    breaks: "Packed bytes that unpack to nothing may come without end",
    file: "lib/messenger/accept/download.ts",
    find: "limit(response.body, maxCompressedBytes(maxBytes), maxBytes)",
    replace: "limit(response.body, Number.POSITIVE_INFINITY, maxBytes)",
    tests: limits,
  },
  {
    breaks: "The total time ends with the headers",
    file: "lib/messenger/accept/download.ts",
    find: 'response.body.on("error", () => {});\n    if (announcesTooMuch',
    replace: 'response.body.on("error", () => {});\n    clearTimeout(timer);\n    if (announcesTooMuch',
    tests: limits,
  },
  {
    breaks: "Each redirect has the whole time again",
    file: "lib/messenger/accept/download.ts",
    find: "follow(agent, first, stop.signal)",
    replace: "follow(agent, first, stop.signal).finally(() => timer.refresh())",
    tests: limits,
  },
  {
    breaks: "A third redirect is not followed",
    file: "lib/messenger/accept/download.ts",
    find: "redirects <= maxRedirects",
    replace: "redirects < maxRedirects",
    tests: ["test/messenger/accept/download.test.ts"],
  },
  {
    breaks: "A connection has the whole time although the name took its part",
    file: "lib/messenger/accept/address-guard.ts",
    find: "dial(addresses, leftMs)",
    replace: "dial(addresses, timeoutMs)",
    tests: guard,
  },
  {
    breaks: "Of several addresses of a name only the first is checked",
    file: "lib/messenger/accept/address-guard.ts",
    find: "for (const { address } of addresses) {",
    replace: "for (const { address } of addresses.slice(0, 1)) {",
    tests: guard,
  },
  {
    breaks: "An IPv6 address that carries an IPv4 address is judged by its own range",
    file: "lib/messenger/accept/address-guard.ts",
    find: "ipaddr.process(address);\n  if (parsed.range() !==",
    replace: "ipaddr.parse(address);\n  if (parsed.range() !==",
    tests: guard,
  },
  {
    breaks: "An image may be as large as a file",
    file: "lib/messenger/accept/source.ts",
    find: 'kind === "image" ? maxImageBytes : maxFileBytes',
    replace: 'kind === "file" ? maxImageBytes : maxFileBytes',
    tests: ["test/messenger/accept/source.test.ts"],
  },
  {
    breaks: "The server's type of a file comes before the sender's",
    file: "lib/messenger/accept/source.ts",
    find: "[content_type, raw.contentType]",
    replace: "[raw.contentType, content_type]",
    tests: ["test/messenger/accept/source.test.ts"],
  },
  {
    breaks: "An uploaded file keeps the name it was sent with, whatever marks it has",
    file: "lib/messenger/accept/source.ts",
    find: 'sanitizeFileName(file_name ?? "") ??',
    replace: "file_name ??",
    tests: ["test/messenger/accept/source.test.ts"],
    only: "uploaded or downloaded",
  },
];
