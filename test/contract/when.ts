import { inject } from "vitest";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import { type Answer, openSystem, overHttp, type Question, type System } from "./system.ts";

/** The running city: its bundles behind a gateway. */
export const runningSystem = (): System => {
  const { apiKey, basic, employee, baseUrl, messagingBaseUrl } = inject("city");
  return openSystem({
    credentials: {
      apiKey,
      basic,
      account: { username: employee.username, password: employee.password },
      employee: { nip: employee.nip, passphrase: employee.passphrase },
      phone: demoPhone,
    },
    send: overHttp({ integration: baseUrl, messaging: messagingBaseUrl }),
  });
};

const { ask } = runningSystem();

/** Sends a request to the running city; a POST has the partner's key. */
export const when = (question: Question): Promise<Answer> =>
  ask({ ...((question.method ?? "POST") === "POST" && { as: "partner" }), ...question });
