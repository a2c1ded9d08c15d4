import { findSetting } from "#lib/config.ts";
import { type MessengerAccess, submit, submitBatch } from "#lib/messaging/messenger-client.ts";
import type { NotifyContext } from "#lib/notification/context.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { messengerUrl } from "../../aws/stage-names.ts";
import { findDevFile, localFolder } from "../../local/dev-file.ts";
import { findStage, readStageSecret, withConnection } from "../stage.ts";

/** How long to retry while the messenger is unavailable. */
const maxWaitMs = 10_000;

const findAccess = async (): Promise<MessengerAccess> => {
  const stage = findStage();
  const consoleUrl = findDevFile(localFolder)?.consoleUrl ?? "";
  const url =
    findSetting("MESSENGER_URL") ?? (stage ? messengerUrl(stage) : consoleUrl.replace(/\/console$/, ""));
  return { url, ...(await readStageSecret("messenger-token")) };
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
        pepper: digestWith(await readStageSecret("opt-out-pepper")),
        until: Number.POSITIVE_INFINITY,
        maxWaitMs,
      }),
    { max: 2 },
  );
