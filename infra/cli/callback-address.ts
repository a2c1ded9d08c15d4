import { guardConnector, publicOrLoopback, publicWeb, resolveHost } from "#lib/channels/address-guard.ts";
import { isRedirect, postTest, readSecretText, type Trial } from "#lib/messenger/callback/post.ts";
import { CommandError, WrongCall } from "./command.ts";
import { cityCommand, isLocal } from "./stage.ts";

const wrongUrl =
  "URL must be an https address on port 443 without credentials, such as https://backend.city.example/messages";

/** Of `npm run dev`, an address on this machine may have any port and no TLS. */
export const readUrl = (text: string): string => {
  const url = URL.parse(text);
  const isBare = url && !url.username && !url.password && !url.hash && text.length <= 2_048;
  if (!isBare) throw new WrongCall(wrongUrl);
  const isPlain = url.protocol === "https:" && url.port === "";
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  if (isPlain || (isLocal() && isHere && /^https?:$/.test(url.protocol))) return url.href;
  throw new WrongCall(
    isLocal() ? `${wrongUrl}, or on this machine, such as http://localhost:4000/messages` : wrongUrl,
  );
};

const policy = () => (isLocal() ? publicOrLoopback : publicWeb);

/**
 * Checks an address as the messenger does before each call.
 *
 * @returns a warning if its host is not found from here.
 * @throws CommandError if a call would be refused.
 */
export const checkAddress = async (url: string): Promise<string | undefined> => {
  const { hostname } = new URL(url);
  const addresses = await resolveHost(hostname).catch(() => []);
  const forbidden = addresses.find(({ address }) => policy()(address, 443));
  if (forbidden)
    throw new CommandError(
      `${hostname} has the address ${forbidden.address}, which is not public, so the messenger does not call it. ` +
        "Use a host that anyone on the internet can reach",
    );
  return addresses.length === 0
    ? `${hostname} was not found in the DNS from here. The messenger looks it up before each call.`
    : undefined;
};

export const redirects = (status: number) =>
  `answered ${status}, and redirects are not followed: nothing will be delivered. Use the address to which it leads. ` +
  "Google Apps Script always answers 302: put a backend or a function that answers 2xx before it";

export const describeTrial = ({ status, reason, ms }: Trial): string => {
  if (status === undefined) return `no answer (${reason}) after ${ms} ms`;
  if (isRedirect(status)) return `${redirects(status)}; ${ms} ms`;
  return `${status} after ${ms} ms`;
};

export const tryAddress = (url: string, secrets: readonly Uint8Array[]): Promise<Trial> =>
  postTest(guardConnector({ policy: policy() }), url, secrets);

/** What the first call to an address says: it may reject the secret, which its owner does not know yet. */
export const warnOf = async (sender: string, url: string, secret: string): Promise<string[]> => {
  const trial = await tryAddress(url, [readSecretText(secret)]);
  const { status = 0 } = trial;
  if (isRedirect(status)) return [`Warning: ${url} ${redirects(status)}.`];
  if (status === 410)
    return [
      `Warning: ${url} answered 410. The first change will disable it: correct the backend, and test it.`,
    ];
  return [
    `A test event: ${describeTrial(trial)}. Once the backend has the secret: ${cityCommand("callback", "test", sender)}`,
  ];
};
