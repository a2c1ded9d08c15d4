import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod/mini";
import type { Section } from "../case.ts";
import {
  expectHeader,
  expectMessagingInvalid,
  expectMessagingRefusal,
  expectRule,
  expectShape,
  expectStatus,
  Mismatch,
} from "../mismatch.ts";
import { credential, type System } from "../system.ts";
import { askAs, needs, phone, schemaFix, suffixed } from "./messaging-question.ts";

const Queued = z.strictObject({
  status: z.literal(true),
  data: z.strictObject({
    id: z.string().check(z.minLength(1)),
    status: z.literal("PENDING"),
    message: z.string(),
  }),
});
const times = { accepted_at: z.string(), changed_at: z.string() };
const Message = z.strictObject({
  id: z.string(),
  status: z.string(),
  reason: z.optional(z.string()),
  waiting_for: z.optional(z.string()),
  not_before: z.optional(z.string()),
  account: z.optional(z.string()),
  channel: z.optional(z.string()),
  left_out: z.optional(z.array(z.string())),
  ...times,
});
const State = z.strictObject({ status: z.literal(true), data: Message });
const Page = z.strictObject({
  status: z.literal(true),
  data: z.array(z.extend(Message, { duration: z.optional(z.int()) })),
  next: z.nullable(z.string()),
});

/** What is wrong, the phone, and part of the message that says how to fix it. */
export const wrongPhones: [string, unknown, string][] = [
  ["a leading +", `+${phone}`, `send ${phone}`],
  ["a formatted number", "+999 123-4567.890", `send ${phone}`],
  ["a number with (0)", "+999 (0) 123 4567 890", `send ${phone}`],
  ["an international prefix", `00${phone}`, `send ${phone}`],
  ["spaces around it", ` ${phone}\n`, `send ${phone}`],
  ["invisible characters", `\u202a${phone}\u202c`, `send ${phone}`],
  ["a leading 0", "081234567890", "replace the leading 0 with the country code"],
  ["a JSON number", Number(phone), "in quotes"],
  ["letters", "99912ABC67890", "8 to 15 digits"],
  ["other digits than 0 to 9", "٩٩٩٢٣٤٥٦٧٨٩٠", "8 to 15 digits"],
  ["7 digits", "9991234", "8 to 15 digits"],
  ["16 digits", "9991234567890123", "8 to 15 digits"],
  ["a group", "120363025246125486@g.us", "groups are not supported"],
  ["a LID", "123456789012345@lid", "a LID is not a number"],
  ["a LID of a hosted account", "123456789012345:99@hosted.lid", "a LID is not a number"],
  ["another domain", `${phone}@example.com`, "only @s.whatsapp.net"],
  ["the suffix twice", `${suffixed}@s.whatsapp.net`, "8 to 15 digits"],
  ["a blank text", "", "8 to 15 digits"],
  ["null", null, "8 to 15 digits"],
  ["a list", [phone], "8 to 15 digits"],
  ["no value", undefined, "phone is missing"],
];

export const wrongMessages = [undefined, "", " \n", 5, "a\0b"];
/** Optional fields, and part of the message that says how to fix them. */
export const wrongOptions: [string, unknown, string][] = [
  ...["86400", 1.5, -1, 31_536_001, true, [0]].map((wrong): [string, unknown, string] => [
    "duration",
    wrong,
    "duration must be a whole number",
  ]),
  ...["true", "yes", 1, {}].map((wrong): [string, unknown, string] => [
    "is_forwarded",
    wrong,
    "is_forwarded must be true or false",
  ]),
  ...[5, "x".repeat(129), ["3EB0"]].map((wrong): [string, unknown, string] => [
    "reply_message_id",
    wrong,
    "reply_message_id must be a text",
  ]),
];
/** Bodies with their content type. */
const wrongBodies: [string, string][] = [
  ["{", "application/json"],
  ["[]", "application/json"],
  ['{"__proto__": {"phone": "1"}}', "application/json"],
  ["", "application/json"],
  [`phone=${phone}&message=x`, "application/x-www-form-urlencoded"],
  [`{"phone": "${phone}", "message": "x"}`, "text/plain"],
];
export const wrongKeys = ["", "k".repeat(256), "a b", "é", "a, b"];

const wrongHeaders = [
  ["X-Class", "urgent"],
  ["X-Expires-In", "1.5"],
  ["X-Send-At", "2026-02-30T08:00:00Z"],
] as const;

/** Polls the status of a message until it is sent, for at most 30 s. */
const follow = async (system: System, id: string) => {
  for (const deadline = Date.now() + 30_000; ; await pause(500)) {
    const answer = await askAs(system, { method: "GET", path: `/messages/${id}` });
    expectStatus(answer, 200);
    const { data } = expectShape(answer, State);
    if (["SENT", "DELIVERED", "READ"].includes(data.status)) return;
    const waits = data.status === "PENDING" || data.status === "SENDING";
    if (!waits || Date.now() > deadline)
      throw new Mismatch(answer, "SENT within 30 s", `${data.status} ${data.reason ?? ""}`.trim());
  }
};

export const messagingText: Section = {
  title: "Messaging: texts and their state",
  cases: [
    {
      name: "answers 404 to an unknown message id",
      needs,
      fix: "503 SESSION_UNAVAILABLE: check that the messenger runs, MESSENGER_URL, and the secret messenger-token.",
      check: async (system) => {
        const path = `/messages/3EB0${randomUUID().replaceAll("-", "").toUpperCase()}`;
        const headers = { origin: "https://app.example" };
        for (const method of ["GET", "DELETE"]) {
          const answer = await askAs(system, { method, path, headers });
          expectMessagingRefusal(answer, 404, "MESSAGE_NOT_FOUND");
          expectHeader(answer, "access-control-allow-origin", undefined);
          expectHeader(answer, "x-request-id", /^[\w-]+$/);
          expectHeader(answer, "cache-control", /^no-store$/);
        }
      },
    },
    {
      name: "rejects a malformed message id",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const id of ["%2e%2e%2fhealth", "a%20b", "x".repeat(65), "a;b"])
          for (const method of ["GET", "DELETE"])
            expectMessagingInvalid(await askAs(system, { method, path: `/messages/${id}` }));
      },
    },
    {
      name: "rejects an invalid phone of a text, and says how to fix it",
      needs,
      fix: "Check lib/messaging/phone.ts.",
      check: async (system) => {
        for (const [about, wrong, words] of wrongPhones) {
          const answer = await askAs(system, {
            path: "/send/message",
            body: { phone: wrong, message: "x" },
            about,
          });
          expectMessagingInvalid(answer, words);
        }
      },
    },
    {
      name: "rejects an empty text, and a body that is not a JSON object",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const message of wrongMessages) {
          const about = `message ${JSON.stringify(message)}`;
          const answer = await askAs(system, { path: "/send/message", body: { phone, message }, about });
          expectMessagingInvalid(answer, "message must be a text");
        }
        for (const [body, type] of wrongBodies) {
          const question = { path: "/send/message", headers: { "content-type": type }, body };
          expectMessagingInvalid(await askAs(system, { ...question, about: `${type} ${body}` }));
        }
      },
    },
    {
      name: "rejects an invalid duration, flag or quoted message of a text",
      needs,
      fix: schemaFix,
      check: async (system) => {
        for (const [name, wrong, words] of wrongOptions) {
          const about = `${name} ${JSON.stringify(wrong).slice(0, 20)}`;
          const body = { phone, message: "x", [name]: wrong };
          expectMessagingInvalid(await askAs(system, { path: "/send/message", body, about }), words);
        }
      },
    },
    {
      name: "rejects an Idempotency-Key that is not one word of visible ASCII",
      needs,
      fix: schemaFix,
      check: async (system) => {
        // no message text, so that nothing is sent if the key is accepted
        for (const key of wrongKeys) {
          const question = { path: "/send/message", body: { phone }, headers: { "idempotency-key": key } };
          const answer = await askAs(system, {
            ...question,
            about: `the key ${JSON.stringify(key).slice(0, 10)}`,
          });
          expectMessagingInvalid(answer, "Idempotency-Key must be");
        }
      },
    },
    {
      name: "rejects an unknown class, a lifetime that is not whole seconds and a time that does not exist",
      needs,
      fix: schemaFix,
      check: async (system) => {
        // no message text, so that nothing is sent if the header is accepted
        for (const [name, value] of wrongHeaders) {
          const question = { path: "/send/message", body: { phone }, headers: { [name]: value } };
          const answer = await askAs(system, { ...question, about: `${name}: ${value}` });
          expectMessagingInvalid(answer, `${name} must be sent once`);
        }
      },
    },
    {
      name: "lists the sender's messages, and continues only from the end of a page",
      needs,
      fix: "503 SESSION_UNAVAILABLE: check that the messenger runs, MESSENGER_URL, and the secret messenger-token.",
      check: async (system) => {
        const page = await askAs(system, { method: "GET", path: "/messages?limit=1" });
        expectStatus(page, 200);
        expectShape(page, Page);
        for (const query of ["after=x", "limit=101", "state=WAITING", "since=yesterday"])
          expectMessagingInvalid(await askAs(system, { method: "GET", path: `/messages?${query}` }));
      },
    },
    {
      name: "cancels a text for later once and for all",
      needs: [...needs, "phone"],
      fix: "NOT_WAITING: check that X-Send-At reaches the function, and the clocks.",
      check: async (system) => {
        const answer = await askAs(system, {
          path: "/send/message",
          headers: { "x-send-at": new Date(Date.now() + 3_600_000).toISOString() },
          body: { phone: credential(system, "phone"), message: "This text must not arrive" },
        });
        expectStatus(answer, 200);
        const path = `/messages/${expectShape(answer, Queued).data.id}`;
        for (const about of ["the first time", "again"]) {
          const cancelled = await askAs(system, { method: "DELETE", path, about });
          expectStatus(cancelled, 200);
          const { status } = expectShape(cancelled, State).data;
          expectRule(cancelled, status === "CANCELLED", "CANCELLED", status);
        }
      },
    },
    {
      name: "sends a text once for repeated requests with one Idempotency-Key, and reports its status",
      needs: [...needs, "phone"],
      fix: "503: check the messenger. PENDING: check in the console that a phone is linked and that sending is not paused. FAILED: the answer contains the reason.",
      check: async (system) => {
        const question = {
          path: "/send/message",
          headers: { "idempotency-key": `smoke-${randomUUID()}` },
          body: {
            phone: credential(system, "phone"),
            message: "*Smoke test*: _this text_ ~may~ be ignored `ok`",
          },
        };
        const answers = [
          await askAs(system, question),
          await askAs(system, { ...question, about: "the same key" }),
        ];
        const ids = answers.map((answer) => {
          expectStatus(answer, 200);
          return expectShape(answer, Queued).data.id;
        });
        const [, repeated] = answers;
        if (repeated) expectRule(repeated, ids[0] === ids[1], "the same id for the same key", "another id");
        await follow(system, ids[0] ?? "");
      },
    },
  ],
};
