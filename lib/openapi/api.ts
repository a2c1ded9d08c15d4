import type { Envelope } from "#lib/http/envelope.ts";
import type { Route } from "#lib/routes/route.ts";

/** What the document has to know about one REST API: a part of the definition that AWS and the local gateway read. */
export interface PublishedApi {
  readonly name: "integration" | "messaging";
  readonly routes: readonly Route[];
  /** How the gateway spells what it answers by itself. */
  readonly envelope: Envelope;
  /** What it answers by itself, by API Gateway's response type. */
  readonly responses: Readonly<
    Record<string, { readonly body: string; readonly headers: Readonly<Record<string, string>> }>
  >;
  readonly firewall: {
    /** Routes that one address may call so often only, and what it is told then. */
    readonly perAddress?: {
      readonly limits: readonly { readonly route: Route }[];
      readonly refusal: { readonly body: string };
    };
  };
}
