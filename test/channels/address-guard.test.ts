import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer } from "node:net";
import { text } from "node:stream/consumers";
import { buildConnector } from "undici";
import { expect, onTestFinished, test, vi } from "vitest";
import { guardConnector, isPublic, type Policy } from "#lib/channels/address-guard.ts";
import { openDownload } from "#lib/messenger/accept/download.ts";
import { listen, serve } from "../steps/http-server.ts";
import { openLoopback } from "../steps/loopback.ts";

type Names = Record<string, readonly string[]>;

const toAddress = (address: string): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 });

/** A guard that records addresses instead of connecting. Each lookup of a name gets its next answer. */
const recordingGuard = (names: Names = {}, policy?: Policy) => {
  const dialled: string[][] = [];
  const asked: string[] = [];
  const connector = guardConnector({
    ...(policy && { policy }),
    resolve: async (hostname) => {
      asked.push(hostname);
      return (names[hostname] ?? []).map(toAddress);
    },
    dial: (addresses) => {
      dialled.push(addresses.map(({ address }) => address));
      return (_options, callback) => callback(new Error("recorded, not connected"), null);
    },
  });
  return { connector, dialled, asked };
};

const rejectionOf = async (url: string, connector: buildConnector.connector) =>
  openDownload(url, { maxBytes: 1000, connector }).then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

const notFetched = { status: 400, message: expect.stringContaining("could not be fetched") };
const notPublic = { status: 400, code: "invalid_request", message: expect.stringContaining("not public") };

test.each([
  ["loopback", "127.0.0.1"],
  ["loopback's far end", "127.255.255.254"],
  ["private class A", "10.1.2.3"],
  ["private class B", "172.31.255.1"],
  ["private class C", "192.168.1.1"],
  ["link-local", "169.254.1.1"],
  ["cloud metadata", "169.254.169.254"],
  ["container credentials", "169.254.170.2"],
  ["this host", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["shared by carriers", "100.64.0.1"],
  ["protocol assignments", "192.0.0.8"],
  ["documentation", "192.0.2.1"],
  ["documentation 2", "198.51.100.7"],
  ["documentation 3", "203.0.113.7"],
  ["6to4 relays", "192.88.99.1"],
  ["benchmarks", "198.18.0.1"],
  ["benchmarks' far end", "198.19.255.255"],
  ["multicast", "224.0.0.1"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["decimal", "2130706433"],
  ["octal", "0177.0.0.1"],
  ["hexadecimal", "0x7f.1"],
  ["one hexadecimal number", "0x7f000001"],
  ["short", "127.1"],
  ["zero", "0"],
  ["a trailing dot", "127.0.0.1."],
  ["percent-encoded", "%31%32%37.0.0.1"],
  ["full-width digits", "１２７.０.０.１"],
  ["decimal metadata", "2852039166"],
  ["IPv6 unspecified", "[::]"],
  ["IPv6 loopback", "[::1]"],
  ["IPv6 loopback in full", "[0:0:0:0:0:0:0:1]"],
  ["mapped loopback", "[::ffff:127.0.0.1]"],
  ["mapped metadata", "[::ffff:a9fe:a9fe]"],
  ["IPv4-compatible", "[::127.0.0.1]"],
  ["translated (RFC 6145)", "[::ffff:0:7f00:1]"],
  ["NAT64 of metadata", "[64:ff9b::169.254.169.254]"],
  ["NAT64 of a public address", "[64:ff9b::8.8.8.8]"],
  ["local NAT64", "[64:ff9b:1::a00:1]"],
  ["6to4", "[2002:7f00:1::]"],
  ["Teredo", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]"],
  ["ORCHID", "[2001:20::1]"],
  ["IPv6 documentation", "[2001:db8::1]"],
  ["new IPv6 documentation", "[3fff::1]"],
  ["IPv6 benchmarks", "[2001:2::1]"],
  ["the returned 6bone", "[3ffe::1]"],
  ["unique local", "[fd00:ec2::254]"],
  ["IPv6 link-local", "[fe80::1]"],
  ["site-local", "[fec0::1]"],
  ["IPv6 multicast", "[ff02::1]"],
  ["discard", "[100::1]"],
  ["segment routing", "[5f00::1]"],
  ["unassigned", "[4000::1]"],
])("rejects an address that is %s (%s) without connecting", async (_what, host) => {
  const { connector, dialled, asked } = recordingGuard();
  expect(await rejectionOf(`http://${host}/latest/meta-data/`, connector)).toMatchObject(notPublic);
  expect([dialled, asked]).toEqual([[], []]);
});

test.each([
  ["another scheme", "ftp://example.org/a", "http:// or https://"],
  ["a file", "file:///etc/passwd", "http:// or https://"],
  ["data", "data:text/plain,hello", "http:// or https://"],
  ["a script", "javascript:alert(1)", "http:// or https://"],
  ["gopher", "gopher://127.0.0.1:6379/_INFO", "http:// or https://"],
  ["a user", "http://user@example.org/", "must not contain a user name"],
  ["a password", "http://:secret@example.org/", "or password"],
  ["a host that looks like credentials", "https://example.org@127.0.0.1/", "must not contain a user name"],
  ["no scheme", "example.org/a.pdf", "is invalid"],
  ["a path alone", "/a.pdf", "is invalid"],
  ["nothing", "", "is invalid"],
  ["no host", "http://", "is invalid"],
  ["an IPv6 zone", "http://[fe80::1%25eth0]/", "is invalid"],
  ["a number too large for an address", "http://4294967296/", "is invalid"],
])("rejects a URL with %s without resolving or connecting", async (_what, url, words) => {
  const { connector, dialled, asked } = recordingGuard({ "example.org": ["93.184.215.14"] });
  expect(await rejectionOf(url, connector)).toMatchObject({
    ...{ status: 400, code: "invalid_request", message: expect.stringContaining(words) },
  });
  expect([dialled, asked]).toEqual([[], []]);
});

test.each([0, 22, 25, 81, 6379, 8080, 8443])("rejects port %i without connecting", async (port) => {
  const { connector, dialled } = recordingGuard({ "example.org": ["93.184.215.14"] });
  for (const host of ["example.org", "93.184.215.14"])
    expect(await rejectionOf(`https://${host}:${port}/`, connector)).toMatchObject({
      message: "The URL must use port 80 or 443",
    });
  expect(dialled).toEqual([]);
});

test.each([
  ["loopback", ["127.0.0.1"]],
  ["loopback by IPv6", ["::1"]],
  ["a private address after a public one", ["93.184.215.14", "10.0.0.5"]],
  ["a private address before a public one", ["10.0.0.5", "93.184.215.14"]],
  ["a public IPv4 and a local IPv6 address", ["93.184.215.14", "fd00::5"]],
  ["a mapped private address", ["::ffff:10.0.0.5"]],
  ["an address with a zone", ["fe80::1%eth0"]],
  ["a public address with a zone", ["2606:4700::1111%eth0"]],
])("rejects a name that resolves to %s without connecting", async (_what, addresses) => {
  const { connector, dialled, asked } = recordingGuard({ "files.example.org": addresses });
  expect(await rejectionOf("https://files.example.org/a", connector)).toMatchObject(notFetched);
  expect([dialled, asked]).toEqual([[], ["files.example.org"]]);
});

test("connects to all addresses of a public name, from one lookup", async () => {
  const addresses = ["93.184.215.14", "2606:4700::1111"];
  const { connector, dialled, asked } = recordingGuard({ "files.example.org": addresses });
  await rejectionOf("https://files.example.org/a", connector);
  expect([dialled, asked]).toEqual([[addresses], ["files.example.org"]]);
});

test.each([
  "http://93.184.215.14/",
  "https://93.184.215.14:443/",
  "http://[2606:4700::1111]:80/",
  "http://[::ffff:93.184.215.14]/",
])("allows the public literal %s", async (url) => {
  const { connector, dialled } = recordingGuard();
  await rejectionOf(url, connector);
  expect(dialled).toHaveLength(1);
});

test("accepts only addresses in canonical form as public", () => {
  for (const address of ["", "example.org", "0177.0.0.1", "8.8.8", "134744072", "0x08.8.8.8"])
    expect(isPublic(address)).toBe(false);
  expect(["8.8.8.8", "2a00:1450::1"].map(isPublic)).toEqual([true, true]);
});

test("resolves a name once, so that DNS rebinding has no effect", async () => {
  const url = new URL(await serve((_request, response) => void response.end("the first")));
  const answers = [["127.0.0.1"], ["169.254.169.254"]];
  let asked = 0;
  const connector = guardConnector({
    policy: (address) => (address === "127.0.0.1" ? undefined : "rejected"),
    resolve: async () => (answers[asked++] ?? []).map(toAddress),
  });
  const { body } = await openDownload(`http://rebind.test:${url.port}/`, { maxBytes: 1000, connector });
  expect(await text(body)).toBe("the first");
  expect(asked).toBe(1);
});

test("checks the same name again after a redirect", async () => {
  const { port } = new URL(
    await serve((_request, response) => {
      response.writeHead(302, { location: "/again", connection: "close" }).end();
    }),
  );
  const answers = [["127.0.0.1"], ["169.254.169.254"]];
  const policy: Policy = (address) => (address === "127.0.0.1" ? undefined : "not public");
  const connector = guardConnector({
    policy,
    resolve: async () => (answers.shift() ?? []).map(toAddress),
  });
  expect(await rejectionOf(`http://rebind.test:${port}/`, connector)).toMatchObject(notFetched);
  expect(answers).toEqual([]);
});

test.each([
  "http://169.254.169.254/latest/meta-data/",
  "//10.0.0.1/",
  "http://[::1]/",
  "http://internal.test/",
])("rejects a redirect to %s without connecting there", async (location) => {
  const dialled: string[] = [];
  const { port } = new URL(
    await serve((_request, response) => void response.writeHead(302, { location }).end()),
  );
  const connector = guardConnector({
    policy: (address) => (address === "127.0.0.1" ? undefined : "not public"),
    resolve: async (name) => [toAddress(name === "start.test" ? "127.0.0.1" : "10.9.9.9")],
    dial: (addresses) => {
      dialled.push(...addresses.map(({ address }) => address));
      return buildConnector({ lookup: (_host, _options, done) => done(null, addresses) });
    },
  });
  expect(await rejectionOf(`http://start.test:${port}/`, connector)).toMatchObject(
    location.includes("internal") ? notFetched : notPublic,
  );
  expect(dialled).toEqual(["127.0.0.1"]);
});

test.each([
  ["file:///etc/passwd", "http:// or https://"],
  ["gopher://127.0.0.1/", "http:// or https://"],
  ["http://user:secret@127.0.0.1/", "must not contain a user name"],
])("rejects a redirect to %s", async (location, words) => {
  const url = await serve((_request, response) => void response.writeHead(301, { location }).end());
  await expect(openLoopback(url)).rejects.toMatchObject({
    ...{ status: 400, code: "invalid_request", message: expect.stringContaining(words) },
  });
});

test("reports a lookup that times out like any other network error", async () => {
  const connector = guardConnector({ resolve: () => new Promise(() => {}), timeoutMs: 50 });
  const silent = await rejectionOf("http://slow.test/", connector);
  const unresolved = await rejectionOf("http://unknown.test/", recordingGuard({}).connector);
  expect(silent).toMatchObject({ status: 400, message: expect.stringContaining("could not be fetched") });
  expect(unresolved).toEqual(silent);
});

test("gives the connection the rest of 3 s after the lookup, and at least a millisecond", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const left: number[] = [];
  for (const tookMs of [0, 2_000, 3_500]) {
    const connector = guardConnector({
      resolve: async () => {
        vi.advanceTimersByTime(tookMs);
        return [toAddress("93.184.215.14")];
      },
      dial: (_addresses, timeoutMs) => {
        left.push(timeoutMs);
        return (_options, callback) => callback(new Error("recorded, not connected"), null);
      },
    });
    await rejectionOf("http://files.example.org/", connector);
  }
  expect(left).toEqual([3_000, 1_000, 1]);
});

test("times out a TLS handshake without an answer", async () => {
  const server = createServer(() => {});
  const { port } = new URL(await listen(server));
  const connector = guardConnector({ policy: () => undefined, timeoutMs: 100 });
  const options = { hostname: "127.0.0.1", protocol: "https:", port };
  const error = await new Promise((resolve) => connector(options, (...[failure]) => resolve(failure)));
  expect(error).toMatchObject({
    name: "ConnectTimeoutError",
    message: expect.stringMatching(/timeout: (100|\d\d?)ms/),
  });
});

test("uses the name of the URL for TLS, and the checked address for the connection", async () => {
  const server = createServer();
  const { port } = new URL(await listen(server));
  const hello = once(server, "connection").then(async ([socket]) => {
    const [bytes] = await once(socket, "data");
    socket.destroy();
    return bytes as Buffer;
  });
  await expect(openLoopback(`https://files.example.test:${port}/`)).rejects.toThrow("could not be fetched");
  expect((await hello).includes("files.example.test")).toBe(true);
});

test("rejects loopback addresses unless the caller passes a guard with another policy", async () => {
  let requests = 0;
  const url = await serve((_request, response) => {
    requests += 1;
    response.end();
  });
  await expect(openDownload(url, { maxBytes: 10 })).rejects.toMatchObject({ status: 400 });
  expect(requests).toBe(0);
});
