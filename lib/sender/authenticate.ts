import { tokenLookup } from "#lib/db/token-lookup.ts";

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
