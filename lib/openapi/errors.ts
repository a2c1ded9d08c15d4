import { type Envelope, integrationEnvelope } from "#lib/http/envelope.ts";
import { messagingEnvelope } from "#lib/http/messaging-envelope.ts";
import { oauthEnvelope } from "#lib/http/oauth-envelope.ts";
import { type Schema, schemaOf } from "./schema.ts";

/** Names of the schemas that envelopes have among the document's components. */
const names = new Map<Envelope, string>([
  [integrationEnvelope, "IntegrationError"],
  [oauthEnvelope, "OAuthError"],
  [messagingEnvelope, "MessagingError"],
]);

/** What the firewall says to one address: it stands before the gateway, which has given no id yet. */
export const firewallError = "FirewallError";

/** @throws Error for an envelope that has no name here. */
export const nameOf = (envelope: Envelope): string => {
  const name = names.get(envelope);
  if (!name) throw new Error("an envelope is not among the document's errors");
  return name;
};

const withoutRequestId = ({ properties = {}, required = [], ...rest }: Schema): Schema => {
  const { request_id: _, ...others } = properties;
  return { ...rest, properties: others, required: required.filter((name) => name !== "request_id") };
};

/** The schemas of all errors, by name. */
export const errorSchemas = (): Record<string, Schema> => ({
  ...Object.fromEntries([...names].map(([{ schema }, name]) => [name, schemaOf(schema, "output")])),
  [firewallError]: withoutRequestId(schemaOf(integrationEnvelope.schema, "output")),
});
