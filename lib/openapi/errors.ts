import { type Envelope, integrationEnvelope } from "#lib/faults/envelope.ts";
import { messagingEnvelope } from "#lib/faults/messaging-envelope.ts";
import { oauthEnvelope } from "#lib/faults/oauth-envelope.ts";
import { type Schema, schemaOf } from "./schema.ts";

/** Schema names of the envelopes among the document's components. */
const names = new Map<Envelope, string>([
  [integrationEnvelope, "IntegrationError"],
  [oauthEnvelope, "OAuthError"],
  [messagingEnvelope, "MessagingError"],
]);

/** The firewall's response to a rate-limited address: it has no request id, because the gateway comes later. */
const firewallError = "FirewallError";

/** @throws Error for an envelope without a name. */
export const nameOf = (envelope: Envelope): string => {
  const name = names.get(envelope);
  if (!name) throw new Error("an envelope is not among the document's errors");
  return name;
};

/** The schema name of the firewall's response, which is the API's own where that has no request id. */
export const firewallErrorOf = (envelope: Envelope): string =>
  envelope === integrationEnvelope ? firewallError : nameOf(envelope);

const withoutRequestId = ({ properties = {}, required = [], ...rest }: Schema): Schema => {
  const { request_id: _, ...others } = properties;
  return { ...rest, properties: others, required: required.filter((name) => name !== "request_id") };
};

export const errorSchemas = (): Record<string, Schema> => ({
  ...Object.fromEntries([...names].map(([{ schema }, name]) => [name, schemaOf(schema, "output")])),
  [firewallError]: withoutRequestId(schemaOf(integrationEnvelope.schema, "output")),
});
