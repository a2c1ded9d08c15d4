import type { Section } from "../case.ts";
import { expectMessagingRefusal } from "../mismatch.ts";
import { ask, gatewayFix } from "./messaging-question.ts";

const path = "/webhooks/cloud-api";
const unsigned: readonly [string, Readonly<Record<string, string>>][] = [
  ["no signature", {}],
  ["a blank signature", { "x-hub-signature-256": "" }],
  ["another app's signature", { "x-hub-signature-256": `sha256=${"0".repeat(64)}` }],
];
const withoutToken: readonly [string, Readonly<Record<string, string>>][] = [
  ["no token", {}],
  ["an empty token", { authorization: "Bearer " }],
  ["an empty password", { authorization: `Basic ${Buffer.from("gateway:").toString("base64")}` }],
];

export const messagingWebhooks: Section = {
  title: "Messaging: webhooks of platforms",
  cases: [
    {
      name: "answers 401 to a notification without the signature of a known app",
      needs: [],
      fix: `Check the secret messenger-channels and functions/messaging/receive-cloud-api.ts. ${gatewayFix}`,
      check: async (system) => {
        for (const [about, headers] of unsigned)
          expectMessagingRefusal(
            await ask(system, { path, about, headers, body: "{}" }),
            401,
            "UNAUTHORIZED",
          );
      },
    },
    {
      name: "answers 403 to a handshake without the verify token",
      needs: [],
      fix: `Check the secret messenger-channels and functions/messaging/verify-cloud-api.ts. ${gatewayFix}`,
      check: async (system) => {
        for (const query of ["", "?hub.mode=subscribe&hub.challenge=1&hub.verify_token="])
          expectMessagingRefusal(await ask(system, { method: "GET", path: path + query }), 403, "FORBIDDEN");
      },
    },
    {
      name: "answers 401 to reports of an SMS gateway without the token of its account, whether there is one or not",
      needs: [],
      fix: `Check the secret messenger-channels and functions/messaging/report-sms.ts. ${gatewayFix}`,
      check: async (system) => {
        for (const account of ["nobody", "constructor"])
          for (const [about, headers] of withoutToken) {
            const report = { path: `/webhooks/sms/${account}`, about, headers };
            const answers = [
              await ask(system, { ...report, body: "{}" }),
              await ask(system, { ...report, method: "GET" }),
            ];
            for (const answer of answers) expectMessagingRefusal(answer, 401, "UNAUTHORIZED");
          }
      },
    },
  ],
};
