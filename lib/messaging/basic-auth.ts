import { cached, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { isSameText } from "#lib/same-text.ts";
import { basicSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";

/** A withdrawn credential is dead after this time, also in a warm function. */
const maxAgeMs = 300_000;

/** A letter with a mark may be written in two ways. */
const inOneForm = (text: string): string => text.normalize("NFC");

const accepted = cached("the messaging credentials", maxAgeMs, async () => {
  const { credentials } = await readSecret(getSetting("BASIC_SECRET_ID"), basicSchema());
  return credentials.map(({ username, password }) => ({
    username,
    pair: inOneForm(`${username}:${password}`),
  }));
});

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The `username:password` of an Authorization header, or undefined where there is none to be read. */
const readCredentials = (authorization: string | undefined): string | undefined => {
  const encoded = authorization?.match(/^Basic +([A-Za-z0-9+/]+={0,2}) *$/i)?.[1];
  const bytes = Buffer.from(encoded ?? "", "base64");
  // Buffer skips what it cannot read: only what it writes in the same way again was base64
  if (!encoded || bytes.toString("base64") !== encoded) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};

/**
 * The username behind an Authorization header (RFC 7617), or undefined when it opens nothing. Each accepted
 * credential is compared as a whole and none is left out, so that the time tells nothing about any.
 *
 * @throws Error when the credentials cannot be read from Secrets Manager.
 */
export const findUsername = async (authorization: string | undefined): Promise<string | undefined> => {
  const presented = readCredentials(authorization);
  if (presented === undefined) return undefined;
  const candidate = inOneForm(presented);
  const equal = (await accepted.get()).filter(({ pair }) => isSameText(pair, candidate));
  return equal[0]?.username;
};

/** Starts the secret's fetch while the module loads; a failure shows at the first use. */
export const prepareCredentials = (): void => prepare(accepted);
