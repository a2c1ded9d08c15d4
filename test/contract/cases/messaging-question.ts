import type { Question, System } from "../system.ts";

/**
 * A well-formed number with an unassigned country code: every request with it should be rejected, and if one is
 * accepted by mistake, nobody gets a message.
 */
export const phone = "9991234567890";
export const suffixed = `${phone}@s.whatsapp.net`;
export const needs = ["basic"] as const;

export const ask = (system: System, question: Omit<Question, "api">) =>
  system.ask({ api: "messaging", ...question });
export const askAs = (system: System, question: Omit<Question, "api" | "as">) =>
  ask(system, { as: "backend", ...question });

export const gatewayFix = "Check the gateway responses in infra/aws/messaging-api.ts.";
export const schemaFix = "Check the schemas in lib/routes/messaging.ts.";
