import type { LookupAddress } from "node:dns";
import { createServer } from "node:http";
import { isIPv6 } from "node:net";
import fc from "fast-check";
import { guardConnector, type Policy } from "#lib/channels/address-guard.ts";
import { openDownload } from "#lib/messenger/accept/download.ts";
import { listenOnLoopback } from "../../../infra/local/loopback.ts";
import type { Finding } from "./finding.ts";
import { forbiddenAddress, forbiddenHost, isForbidden } from "./forbidden-addresses.ts";
import type { Effort } from "./inputs.ts";
import { interceptConnects } from "./intercepted-connect.ts";

/** Of example.com, in no forbidden range; nothing is sent there. */
const publicAddress = "93.184.215.14";

interface Trick {
  readonly url: string;
  /** The addresses of every name, one list for each lookup; the last one repeats. */
  readonly answers: readonly (readonly string[])[];
  /** Where the public server redirects to. */
  readonly location?: string;
}

const address = (text: string): LookupAddress => ({ address: text, family: isIPv6(text) ? 6 : 4 });

const urlOf: fc.Arbitrary<(host: string) => string> = fc
  .tuple(
    fc.constantFrom("http", "https", "HTTP"),
    fc.constantFrom("", "a@", "a:b@", "example.org@", "example.org%00@"),
    fc.constantFrom("", ":80", ":443", ":0", ":22", ":5432", ":8080"),
    fc.constantFrom("/", "/latest/meta-data/", "?a=b", "/%2e%2e/", "\\example.org/"),
  )
  .map(
    ([scheme, user, port, path]) =>
      (host) =>
        `${scheme}://${user}${host}${port}${path}`,
  );

const literal = fc
  .tuple(urlOf, forbiddenHost)
  .map(([spell, host]): Trick => ({ url: spell(host), answers: [[publicAddress]] }));
const named = fc
  .tuple(
    fc.constantFrom(
      "files.example",
      "localhost",
      "metadata.google.internal",
      "127.0.0.1.example",
      "a.internal.",
    ),
    forbiddenAddress,
    fc.constantFrom("alone", "beside a public one", "on the second lookup"),
  )
  .map(([host, bad, how]): Trick => {
    const url = `http://${host}/a.png`;
    if (how === "alone") return { url, answers: [[bad]] };
    return {
      url,
      answers: how === "beside a public one" ? [[publicAddress, bad]] : [[publicAddress], [bad]],
    };
  });
const redirected = fc.tuple(urlOf, forbiddenHost).map(
  ([spell, host]): Trick => ({
    url: "http://files.example/a.png",
    answers: [[publicAddress]],
    location: spell(host),
  }),
);
const rebound = forbiddenAddress.map(
  (bad): Trick => ({
    url: "http://files.example/a.png",
    answers: [[publicAddress], [bad]],
    location: "http://other.example/a.png",
  }),
);

/**
 * Asks the messenger's download for forbidden addresses, in every spelling, by names, redirects and rebinding. No
 * connection leaves this machine.
 *
 * @param policy the product's by default.
 */
export const attackDownloads = async ({ inputs, seed }: Effort, policy?: Policy): Promise<Finding[]> => {
  let location: string | undefined;
  const server = createServer((_, response) => {
    if (location !== undefined) response.writeHead(302, { location: encodeURI(location) });
    response.end();
  });
  const { port, stop } = await listenOnLoopback(server);
  const property = fc.asyncProperty(fc.oneof(literal, named, redirected, rebound), async (trick) => {
    location = trick.location;
    let lookups = 0;
    const connector = guardConnector({
      ...(policy && { policy }),
      resolve: async () => {
        const found = trick.answers[Math.min(lookups, trick.answers.length - 1)] ?? [];
        lookups += 1;
        return found.map(address);
      },
    });
    const dialled = await interceptConnects(port, async () => {
      const download = await openDownload(trick.url, { maxBytes: 1_000, connector }).catch(() => undefined);
      await download?.close();
    });
    const fallen = dialled.filter((one) => one !== publicAddress || isForbidden(one));
    if (fallen.length > 0) throw new Error(`it connects to ${fallen.join(", ")}`);
  });
  try {
    const { numRuns, counterexample, errorInstance } = await fc.check(property, { numRuns: inputs, seed });
    const reason = errorInstance instanceof Error ? errorInstance.message : "";
    const fell = counterexample ? [`${reason}: ${fc.stringify(counterexample[0])}`] : [];
    return [{ about: "URLs of forbidden addresses", tried: numRuns, fell }];
  } finally {
    await stop();
  }
};
