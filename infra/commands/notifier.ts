import { findSetting, getSetting } from "#lib/config.ts";
import { type Door, submit, submitBatch } from "#lib/messaging/messenger-client.ts";
import type { Means } from "#lib/notification/context.ts";
import { digestTerm, digestWith } from "#lib/secrets/pepper.ts";
import { messengerTokenSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { readLocalSecret } from "../local/secrets/local-secret.ts";
import { CommandError } from "./command.ts";
import { withConnection } from "./connect.ts";

/** How long a messenger that is away is waited for. */
const patienceMs = 10_000;

const isElsewhere = () =>
  findSetting("DATABASE_URL") !== undefined || findSetting("DATABASE_SECRET_ID") !== undefined;

const need = (name: "MESSENGER_URL" | "MESSENGER_TOKEN_SECRET_ID" | "PEPPER_SECRET_ID"): string => {
  if (findSetting(name) === undefined)
    throw new CommandError(`Set ${name} too: the guide to notification jobs has its value for a stage`);
  return getSetting(name);
};

const findDoor = async (): Promise<Door> => {
  if (isElsewhere()) {
    const url = need("MESSENGER_URL");
    return { url, ...(await readSecret(need("MESSENGER_TOKEN_SECRET_ID"), messengerTokenSchema())) };
  }
  const consoleUrl = findDevFile(localFolder)?.consoleUrl ?? "";
  return { url: consoleUrl.replace(/\/console$/, ""), ...readLocalSecret("messenger-token") };
};

const findPepper = async (): Promise<Means["pepper"]> => {
  if (!isElsewhere()) return digestWith(readLocalSecret("opt-out-pepper"));
  need("PEPPER_SECRET_ID");
  return digestTerm();
};

/** Runs work with what the function `notify` has: of the running `npm run dev`, or of the stage that is set. */
export const withMeans = <T>(work: (means: Means) => Promise<T>): Promise<T> =>
  withConnection(
    "notify",
    async (sql) =>
      work({
        sql,
        submit: (draft) => submit(draft, undefined, findDoor),
        submitBatch: (drafts) => submitBatch(drafts, findDoor),
        pepper: await findPepper(),
        until: Number.POSITIVE_INFINITY,
        patienceMs,
      }),
    { max: 2 },
  );
