import type { Route } from "#lib/routes/route.ts";
import { reference } from "./components.ts";
import type { Language, Text } from "./words.ts";

const texts = {
  summary: {
    en: "A message of yours has changed its state",
    id: "Status pesan Anda berubah",
  },
  description: {
    en: "Sent to the address of your backend, in the format of [Standard Webhooks](https://www.standardwebhooks.com), if the operator has registered one. The changes of one message arrive in order and at least once, until your address answers 2xx or 24 hours have passed; 410 ends them. The operator can send a test, an event of the type `test` whose message does not exist.",
    id: "Dikirim ke alamat backend Anda, dalam format [Standard Webhooks](https://www.standardwebhooks.com), bila pengelola sudah mendaftarkannya. Perubahan satu pesan tiba berurutan dan paling sedikit satu kali, sampai alamat Anda menjawab 2xx atau 24 jam berlalu; 410 mengakhirinya. Pengelola dapat mengirim uji coba, event bertipe `test` yang pesannya tidak ada.",
  },
  id: {
    en: "The same for each attempt: ignore one that you know.",
    id: "Sama untuk setiap percobaan: abaikan yang sudah dikenal.",
  },
  timestamp: { en: "Unix time of the attempt, in seconds.", id: "Waktu Unix percobaan, dalam detik." },
  signature: {
    en: "`v1,` and the HMAC-SHA-256 of `id.timestamp.body` as base64; two, with a space between, while your secret is rotated.",
    id: "`v1,` dan HMAC-SHA-256 dari `id.timestamp.body` dalam base64; dua, dipisahkan spasi, selama secret Anda diganti.",
  },
  at: { en: "When the state changed.", id: "Waktu status berubah." },
  accepted: { en: "Received.", id: "Diterima." },
} satisfies Record<string, Text>;

const header = (name: string, text: Text, example: string, language: Language) => ({
  name: `webhook-${name}`,
  ...{ in: "header", required: true, description: text[language] },
  schema: { type: "string", examples: [example] },
});

/** Describes the calls that the messenger makes (lib/messenger/callback). @returns nothing for APIs without messages. */
export const webhooksOf = (routes: readonly Route[], language: Language) => {
  if (!routes.some(({ fn }) => fn === "messaging/message-status")) return {};
  const post = {
    operationId: "onMessageState",
    ...{ tags: ["messaging"], security: [] },
    summary: texts.summary[language],
    description: texts.description[language],
    parameters: [
      header("id", texts.id, "evt_6f1d3b52-0c83-4f6e-9a52-4be3d1f0a7c9", language),
      header("timestamp", texts.timestamp, "1767229200", language),
      header("signature", texts.signature, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=", language),
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: {
            type: "object",
            required: ["type", "timestamp", "data"],
            properties: {
              type: { const: "message.state" },
              timestamp: { type: "string", format: "date-time", description: texts.at[language] },
              data: reference("Message"),
            },
          },
        },
      },
    },
    responses: { "204": { description: texts.accepted[language] } },
  };
  return { webhooks: { "message.state": { post } } };
};
