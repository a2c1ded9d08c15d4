import type { Question, System } from "../system.ts";

/**
 * A number of the right form, of a country code that is not assigned: each request that names it is to be
 * refused, and where one is not, nobody gets a message.
 */
export const phone = "9991234567890";
export const suffixed = `${phone}@s.whatsapp.net`;
export const needs = ["gateway", "basic"] as const;

export const ask = (system: System, question: Omit<Question, "api">) =>
  system.ask({ api: "messaging", ...question });
export const askAs = (system: System, question: Omit<Question, "api" | "as">) =>
  ask(system, { as: "backend", ...question });

export const gatewayMend = "infra/aws/messaging-api.ts: the API's own gateway responses";
export const schemaMend = "the schemas in lib/routes/messaging.ts";
