import { basicHeader } from "../../steps/messaging.ts";
import type { Section } from "../case.ts";
import { expectHeader, expectMessagingRefusal, expectStatus } from "../mismatch.ts";
import type { System } from "../system.ts";
import { ask, askAs, gatewayFix } from "./messaging-question.ts";

const endpoints = [
  ["POST", "/send/message"],
  ["POST", "/send/image"],
  ["POST", "/send/file"],
  ["GET", "/messages"],
  ["GET", "/messages/3EB0"],
  ["DELETE", "/messages/3EB0"],
] as const;

export const messagingAccess: Section = {
  title: "Messaging: access",
  cases: [
    {
      name: "answers 401 with a Basic challenge to requests without valid credentials, before it reads the body",
      needs: [],
      fix: `Check the basic authorizer of every route. ${gatewayFix}`,
      check: async (system) => {
        const wrong = { username: "wrong", password: "wrong:wrong" };
        const callers: [string, string | undefined][] = [
          ["no credentials", undefined],
          ["a blank header", ""],
          ["wrong credentials", basicHeader(wrong)],
          ["a bearer token", `Bearer ${basicHeader(wrong).slice(6)}`],
          ["invalid base64", "Basic %%%"],
          ["credentials that are not encoded", `Basic ${wrong.username}:${wrong.password}`],
        ];
        for (const [method, path] of endpoints)
          for (const [about, authorization] of callers) {
            const headers = { ...(authorization !== undefined && { authorization }) };
            const answer = await ask(system, {
              method,
              path,
              about,
              headers,
              ...(method === "POST" && { body: "{" }),
            });
            expectMessagingRefusal(answer, 401, "UNAUTHORIZED", "Authorization: Basic");
            expectHeader(answer, "www-authenticate", /^Basic realm="[^"]+"/);
          }
      },
    },
    ...([[], ["basic"]] as const).map((needed) => ({
      name: `answers 404 to an unknown path or method ${needed.length > 0 ? "with" : "without"} credentials, also under /v1`,
      needs: needed,
      fix: `${gatewayFix} The default of MISSING_AUTHENTICATION_TOKEN is 403.`,
      check: async (system: System) => {
        const places = [
          ...[
            ["POST", "/v1/send/message"],
            ["POST", "/send"],
            ["POST", "/send/message/"],
            ["POST", "/send/audio"],
          ],
          ...[
            ["GET", "/send/message"],
            ["PUT", "/send/image"],
            ["PUT", "/messages/3EB0"],
            ["POST", "/messages/3EB0"],
          ],
          ...[
            ["DELETE", "/messages"],
            ["GET", "/messages/3EB0/x"],
            ["POST", "/v1/penduduk"],
          ],
        ] as [string, string][];
        for (const [method, path] of places) {
          const answer = await (needed.length > 0 ? askAs : ask)(system, { method, path });
          expectMessagingRefusal(answer, 404, "NOT_FOUND");
        }
      },
    })),
    {
      name: "sends no CORS headers and answers no preflight",
      needs: [],
      fix: `Turn CORS off, also in any proxy in front of the API: credentials belong in a backend. ${gatewayFix}`,
      check: async (system) => {
        const origin = "https://app.example";
        const headers = { origin, "access-control-request-method": "POST" };
        const preflight = await ask(system, { method: "OPTIONS", path: "/send/message", headers });
        expectStatus(preflight, 404);
        const refused = await ask(system, { path: "/send/message", headers: { origin }, about: "an origin" });
        for (const answer of [preflight, refused])
          for (const name of ["origin", "methods", "headers"])
            expectHeader(answer, `access-control-allow-${name}`, undefined);
      },
    },
    {
      name: "is not served at the address of the integration API",
      needs: [],
      fix: "Both addresses lead to the same API: check --base-url and --messaging-base-url.",
      check: async (system) => expectStatus(await system.ask({ path: "/send/message" }), 404),
    },
  ],
};
