import * as z from "zod/mini";
import type { Auth } from "#lib/routes/route.ts";
import { unauthorized } from "./fault.ts";

/** The partner whose key was accepted, as the api-key authorizer hands it on. */
export interface Partner {
  readonly partnerId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
}

/** The account whose access token was accepted, as the bearer authorizer hands it on. */
export interface Account {
  readonly accountId: string;
  readonly scopes: readonly string[];
  /** Unix time in seconds. */
  readonly expiresAt: number;
}

/** What an authorizer may hand on: strings, numbers and booleans only. */
const PartnerContext = z.object({ partner_id: z.string(), key_id: z.string(), scopes: z.string() });
const AccountContext = z.object({ account_id: z.string(), scopes: z.string(), expires_at: z.string() });

export const partnerToContext = ({ partnerId, keyId, scopes }: Partner): z.infer<typeof PartnerContext> => ({
  partner_id: partnerId,
  key_id: keyId,
  scopes: scopes.join(" "),
});

export const accountToContext = ({
  accountId,
  scopes,
  expiresAt,
}: Account): z.infer<typeof AccountContext> => ({
  account_id: accountId,
  scopes: scopes.join(" "),
  expires_at: String(expiresAt),
});

/**
 * The partner behind a request.
 *
 * @throws Fault 401 when no authorizer ran: a route that is wired wrong must not answer.
 */
export const getPartner = (context: unknown): Partner => {
  const parsed = PartnerContext.safeParse(context);
  if (!parsed.success) throw unauthorized("This endpoint needs an API key");
  const { partner_id, key_id, scopes } = parsed.data;
  return { partnerId: partner_id, keyId: key_id, scopes: scopes.split(" ") };
};

/**
 * The account behind a request.
 *
 * @throws Fault 401 when no authorizer ran, or the token has expired since: the gateway keeps what its
 * authorizer said for longer than a token may live.
 */
export const getAccount = (context: unknown): Account => {
  const parsed = AccountContext.safeParse(context);
  if (!parsed.success) throw unauthorized("This endpoint needs an access token");
  const { account_id, scopes, expires_at } = parsed.data;
  if (Number(expires_at) * 1_000 <= Date.now())
    throw unauthorized("The access token has expired; refresh it, or log in again");
  return { accountId: account_id, scopes: scopes.split(" "), expiresAt: Number(expires_at) };
};

/** The scopes of whoever calls a route, or undefined where anyone may. @throws Fault 401 */
export const findScopes = ({ kind }: Auth, context: unknown): readonly string[] | undefined => {
  if (kind === "public") return undefined;
  return (kind === "apiKey" ? getPartner(context) : getAccount(context)).scopes;
};
