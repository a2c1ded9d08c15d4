import type { Envelope } from "#lib/faults/envelope.ts";
import type { Route } from "#lib/routes/route.ts";

/** The part of an API definition that the OpenAPI document needs. */
export interface PublishedApi {
  readonly name: "integration" | "messaging";
  readonly routes: readonly Route[];
  /** The error envelope of the gateway's own responses. */
  readonly envelope: Envelope;
  /** The gateway's own responses, by API Gateway response type. */
  readonly responses: Readonly<
    Record<string, { readonly body: string; readonly headers: Readonly<Record<string, string>> }>
  >;
  readonly firewall: {
    /** The response to an address over its rate limit, which each route has. */
    readonly perAddress: { readonly refusal: { readonly body: string } };
  };
}
