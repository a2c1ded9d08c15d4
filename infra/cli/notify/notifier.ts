import { findSetting, getSetting } from "#lib/config.ts";
import { type MessengerAccess, submit, submitBatch } from "#lib/messaging/messenger-client.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import { digestTerm, digestWith } from "#lib/secrets/pepper.ts";
import { messengerTokenSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { findDevFile, localFolder } from "../../local/dev-file.ts";
import { readLocalSecret } from "../../local/secrets/store.ts";
import { CommandError } from "../command.ts";
import { isLocal, withConnection } from "../connect.ts";

/** How long to retry while the messenger is unavailable. */
const maxWaitMs = 10_000;

const need = (name: "MESSENGER_URL" | "MESSENGER_TOKEN_SECRET_ID" | "PEPPER_SECRET_ID"): string => {
  if (findSetting(name) === undefined)
    throw new CommandError(`Set ${name}: it is required with DATABASE_URL and DATABASE_SECRET_ID.`);
  return getSetting(name);
};

const findAccess = async (): Promise<MessengerAccess> => {
  if (!isLocal()) {
    const url = need("MESSENGER_URL");
    return { url, ...(await readSecret(need("MESSENGER_TOKEN_SECRET_ID"), messengerTokenSchema())) };
  }
  const consoleUrl = findDevFile(localFolder)?.consoleUrl ?? "";
  return { url: consoleUrl.replace(/\/console$/, ""), ...readLocalSecret("messenger-token") };
};

const findPepper = async (): Promise<NotifyContext["pepper"]> => {
  if (isLocal()) return digestWith(readLocalSecret("opt-out-pepper"));
  need("PEPPER_SECRET_ID");
  return digestTerm();
};

/** Runs work with the dependencies of the function `notify`, from the running `npm run dev` or a deployed stage. */
export const withNotifier = <T>(work: (context: NotifyContext) => Promise<T>): Promise<T> =>
  withConnection(
    "notify",
    async (sql) =>
      work({
        sql,
        submit: (draft) => submit(draft, { findTarget: findAccess }),
        submitBatch: (drafts) => submitBatch(drafts, findAccess),
        pepper: await findPepper(),
        until: Number.POSITIVE_INFINITY,
        maxWaitMs,
      }),
    { max: 2 },
  );
