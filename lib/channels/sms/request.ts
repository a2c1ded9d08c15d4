import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import type { ChannelRequest } from "../exchange.ts";
import { countParts } from "./parts.ts";
import type { SmsSettings } from "./settings.ts";

type Values = Readonly<Record<"phone" | "text" | "id" | "from" | "alphabet", string>>;

/** In one pass, so that a text with braces is sent as it is. */
const fill = (template: string, values: Values): string =>
  template.replace(/\{(phone|text|id|from|alphabet)\}/g, (_, name: keyof Values) => values[name]);

const fillAll = (value: unknown, values: Values): unknown => {
  if (typeof value === "string") return fill(value, values);
  if (Array.isArray(value)) return value.map((one) => fillAll(one, values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillAll(one, values)]));
};

const contentTypes = {
  form: { "content-type": "application/x-www-form-urlencoded" },
  json: { "content-type": "application/json" },
  query: {},
};

const encode = ({ format, fields }: SmsSettings, values: Values): string => {
  const filled = fillAll(fields, values) as Record<string, unknown>;
  if (format === "json") return JSON.stringify(filled);
  const texts = Object.entries(filled).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(texts).toString();
};

/** Makes the request of a text. @throws TypeError for a URL that is none. */
export const requestOf = (
  settings: SmsSettings,
  { id, phone }: Pick<Outgoing, "id" | "phone">,
  text: string,
): ChannelRequest => {
  const { url, format, headers, from, alphabets } = settings;
  const { origin, pathname, search } = new URL(url);
  const values = { phone, text, id, from, alphabet: alphabets[countParts(text).alphabet] };
  const content = encode(settings, values);
  const isQuery = format === "query";
  const query = isQuery ? `${search}${search ? "&" : "?"}${content}` : search;
  return {
    method: isQuery ? "GET" : "POST",
    origin,
    path: pathname + query,
    headers: {
      ...contentTypes[format],
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "municipal-messaging-gateway/1.0",
      ...Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fill(value, values)]),
      ),
    },
    body: isQuery ? null : content,
  };
};
