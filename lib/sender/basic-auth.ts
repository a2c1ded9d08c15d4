import { cached, prepare } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { tokenLookup } from "#lib/db/token-lookup.ts";
import { isSameText } from "#lib/opaque-token.ts";
import { basicSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";

/** How long a warm function may still accept a credential that was removed from the secret. */
const maxAgeMs = 300_000;

/** Letters with diacritics have two Unicode encodings, and clients differ in which they send. */
const normalize = (text: string): string => text.normalize("NFC");

const accepted = cached("the messaging credentials", maxAgeMs, async () => {
  const { credentials } = await readSecret(getSetting("BASIC_SECRET_ID"), basicSchema());
  return credentials.map(({ username, password }) => ({
    username,
    pair: normalize(`${username}:${password}`),
  }));
});

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes `username:password`; returns undefined for an invalid header. */
const readCredentials = (authorization: string | undefined): string | undefined => {
  const encoded = authorization?.match(/^Basic +([A-Za-z0-9+/]+={0,2}) *$/i)?.[1];
  const bytes = Buffer.from(encoded ?? "", "base64");
  // Buffer skips invalid characters, so the text is valid base64 only if it encodes to the same text again
  if (!encoded || bytes.toString("base64") !== encoded) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};

/**
 * Returns the username of valid credentials in an Authorization header (RFC 7617), or undefined. Compares with every
 * credential of the secret in full, so that the response time reveals nothing. Others are looked up in the database,
 * if the password has the form of an issued one: the secret's users and wrong passwords open no connection.
 *
 * @throws Error when the credentials cannot be read from Secrets Manager or the database.
 */
export const findUsername = async (authorization: string | undefined): Promise<string | undefined> => {
  const presented = readCredentials(authorization);
  if (presented === undefined) return undefined;
  const candidate = normalize(presented);
  const [equal] = (await accepted.get()).filter(({ pair }) => isSameText(pair, candidate));
  if (equal) return equal.username;
  const [name = "", password = ""] = presented.split(/:(.*)/s);
  return findSender(name, password);
};

/** Starts fetching the secret while the module loads; an error surfaces at first use. */
export const prepareCredentials = (): void => prepare(accepted);

export const passwordPrefix = "mis_";

/** What can be the name of a sender: that of a user of the secret, too. */
export const namePattern = /^[^:\p{Cc}]{1,296}$/u;

const findRow = tokenLookup(
  passwordPrefix,
  (sql, digest, name) => sql<{ sender: string }[]>`
    select sender from messaging.authenticate_sender(${name}, ${digest})`,
);

/** Returns the name of the sender if this is one of its active passwords. */
export const findSender = async (name: string, password: string): Promise<string | undefined> =>
  namePattern.test(name) ? (await findRow(password, name))?.sender : undefined;
