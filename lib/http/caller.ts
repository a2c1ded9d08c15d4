import * as z from "zod/mini";
import { Fault } from "#lib/faults/fault.ts";
import { expiredToken, noCredentials, noKey, noScope, noToken } from "#lib/faults/table.ts";
import type { Auth } from "#lib/routes/route.ts";

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

/** The backend whose messaging credentials were accepted, as the basic authorizer hands it on. */
export interface Sender {
  readonly username: string;
}

/** What an authorizer may hand on: strings, numbers and booleans only. */
const PartnerContext = z.object({ partner_id: z.string(), key_id: z.string(), scopes: z.string() });
const AccountContext = z.object({ account_id: z.string(), scopes: z.string(), expires_at: z.string() });
const SenderContext = z.object({ sender: z.string() });

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

export const senderToContext = ({ username }: Sender): z.infer<typeof SenderContext> => ({
  sender: username,
});

/**
 * The partner behind a request.
 *
 * @throws Fault 401 when no authorizer ran: a route that is wired wrong must not answer.
 */
export const getPartner = (context: unknown): Partner => {
  const parsed = PartnerContext.safeParse(context);
  if (!parsed.success) throw new Fault(noKey);
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
  if (!parsed.success) throw new Fault(noToken);
  const { account_id, scopes, expires_at } = parsed.data;
  if (Number(expires_at) * 1_000 <= Date.now()) throw new Fault(expiredToken);
  return { accountId: account_id, scopes: scopes.split(" "), expiresAt: Number(expires_at) };
};

/**
 * Lets pass whom a route admits.
 *
 * @throws Fault 401 when no authorizer of the route's kind ran, 403 when the caller lacks its scope.
 */
export const admit = (auth: Auth, context: unknown): void => {
  if (auth.kind === "public") return;
  if (auth.kind === "basic") {
    if (!SenderContext.safeParse(context).success) throw new Fault(noCredentials);
    return;
  }
  const { scopes } = auth.kind === "apiKey" ? getPartner(context) : getAccount(context);
  if (!scopes.includes(auth.scope)) throw new Fault(noScope(auth.scope));
};
