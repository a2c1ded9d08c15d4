import { expect } from "vitest";
import { messagingRoutes, routes } from "#lib/routes/index.ts";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import type { Question } from "../contract/system.ts";
import { documentedRequest, pathOf } from "../steps/documented-request.ts";
import { formOf } from "../steps/messaging.ts";

const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const text = { phone: demoPhone, message: "x" };

/** Requests that differ from the documented ones: with invented credentials, with files, to the played phone. */
const questions: Readonly<Record<string, Question>> = {
  "employee/login": { path: "/v1/simpeg/auth/login", body: { username: "somebody", password: "p" } },
  "employee/refresh": {
    path: "/v1/simpeg/auth/refresh",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "mir_x" }),
  },
  "employee/ticket": {
    method: "GET",
    path: `/v1/simpeg/tiket?user=servicelogin&username=${"1".repeat(18)}&pass=p`,
  },
  "messaging/send-message": { api: "messaging", path: "/send/message", body: text },
  "messaging/send-image": {
    api: "messaging",
    path: "/send/image",
    body: formOf({ phone: demoPhone, image }, "a.png"),
  },
  "messaging/send-file": {
    api: "messaging",
    path: "/send/file",
    body: formOf({ phone: demoPhone, file: image }),
  },
  "messaging/message-status": { api: "messaging", method: "GET", path: "/messages/3EB0PLAYED" },
};

/** One valid request to an endpoint. */
export const question = (fn: string): Question => {
  if (questions[fn]) return questions[fn];
  const route = routes.find((one) => one.fn === fn) ?? expect.fail(`no route ${fn}`);
  const documented = documentedRequest(route);
  return {
    api: messagingRoutes.includes(route) ? "messaging" : "integration",
    method: route.method,
    path: pathOf(route, documented),
    ...(documented.body && { body: documented.body }),
  };
};
