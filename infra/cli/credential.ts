import { findSetting } from "#lib/config.ts";
import { namePattern } from "#lib/sender/basic-auth.ts";
import { momentOf } from "#lib/time-zone.ts";
import { readWhole, WrongCall } from "./command.ts";
import { formatTime } from "./output.ts";

/*
 * What the commands for credentials of partners and of senders have in common.
 */

/** Reads the name of a partner or a sender. @throws WrongCall */
export const readName = (argument: string, example: string) => (name: string) => {
  if (/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return name;
  throw new WrongCall(
    `${argument} must be 1 to 40 lower-case letters, digits and dashes, such as ${example}, not ${name}`,
  );
};

/** Reads the name of a sender that may be a user of the secret, too. @throws WrongCall */
export const readUsername = (name: string): string => {
  if (namePattern.test(name)) return name;
  throw new WrongCall("SENDER must be a username without colons and control characters, such as tax-office");
};

const readExpiry = (text: string): Date => {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
  const date = momentOf(`${text}T23:59:59`, findSetting("TIME_ZONE"));
  if (!isDay || date < new Date())
    throw new WrongCall(`--expires must be a future date such as 2030-12-31, not ${text}`);
  return date;
};

export const expires = ["--expires <date>", "last day, YYYY-MM-DD, in the city's time", readExpiry] as const;
/** @param what in the plural. */
export const overlap = (what: string) =>
  ["--overlap <hours>", `how long old ${what} stay valid`, readWhole("--overlap", 0, 9_999), 24] as const;

interface Shown {
  /** Its owner and ID. */
  readonly title: string;
  readonly expiresAt: Date | undefined;
  readonly secret: string;
  readonly noun: "key" | "password";
}

/** Shows a credential in plain text. */
export const showSecret = ({ title, expiresAt, secret, noun }: Shown): string =>
  `${title}, ${expiresAt ? `expires ${formatTime(expiresAt)}` : "does not expire"}\n${secret}\n\n` +
  `Send it over a secure channel. Only a digest is stored; the ${noun} cannot be shown again.`;

/** The last columns of a list of credentials. */
export const stateColumns = ["state", "created", "expires", "last used"] as const;

interface CredentialState {
  readonly state: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}
export const formatState = ({ state, createdAt, expiresAt, lastUsedAt }: CredentialState): string[] => [
  state,
  ...[createdAt, expiresAt, lastUsedAt].map(formatTime),
];
