import * as z from "zod/mini";
import { ApiError } from "#lib/errors/api-error.ts";
import { expiredToken, noCredentials, noKey, noScope, noToken } from "#lib/errors/table.ts";
import type { AccountScope, Auth, PartnerScope } from "#lib/routes/route.ts";

/** The partner of a valid API key, from the api-key authorizer. */
export interface Partner {
  readonly partnerId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
}

/** The account of a valid access token, from the bearer authorizer. */
export interface Account {
  readonly accountId: string;
  readonly scopes: readonly string[];
  /** Unix time in seconds. */
  readonly expiresAt: number;
}

/** The backend of valid messaging credentials, from the basic authorizer. */
export interface Sender {
  readonly username: string;
}

/** API Gateway allows no arrays in an authorizer's context, so scopes are joined by spaces. */
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
 * Returns the caller of a route with `auth.kind: "apiKey"`.
 *
 * @throws ApiError 401 when no authorizer ran: a misconfigured route must not return data.
 */
export const getPartner = (context: unknown): Partner => {
  const parsed = PartnerContext.safeParse(context);
  if (!parsed.success) throw new ApiError(noKey);
  const { partner_id, key_id, scopes } = parsed.data;
  return { partnerId: partner_id, keyId: key_id, scopes: scopes.split(" ") };
};

/**
 * Returns the caller of a route with `auth.kind: "bearer"`.
 *
 * @throws ApiError 401 when no authorizer ran, or the token has expired since: the gateway caches the authorizer's answer
 * beyond the token's expiry.
 */
export const getAccount = (context: unknown): Account => {
  const parsed = AccountContext.safeParse(context);
  if (!parsed.success) throw new ApiError(noToken);
  const { account_id, scopes, expires_at } = parsed.data;
  if (Number(expires_at) * 1_000 <= Date.now()) throw new ApiError(expiredToken);
  return { accountId: account_id, scopes: scopes.split(" "), expiresAt: Number(expires_at) };
};

/** Returns the name of the sender for the log, or undefined when no authorizer ran. */
export const findSender = (context: unknown): string | undefined =>
  SenderContext.safeParse(context).data?.sender;

/**
 * Returns the caller of a route with `auth.kind: "basic"`.
 *
 * @throws ApiError 401 when no authorizer ran.
 */
export const getSender = (context: unknown): Sender => {
  const parsed = SenderContext.safeParse(context);
  if (!parsed.success) throw new ApiError(noCredentials);
  return { username: parsed.data.sender };
};

/** @throws ApiError 403 when the caller lacks the scope. */
export const requireScope = (
  { scopes }: Pick<Partner | Account, "scopes">,
  scope: PartnerScope | AccountScope,
): void => {
  if (!scopes.includes(scope)) throw new ApiError(noScope(scope));
};

/**
 * Throws unless the caller may use this route.
 *
 * @throws ApiError 401 when no authorizer of the route's kind ran, 403 when the caller lacks its scope.
 */
export const authorize = (auth: Auth, context: unknown): void => {
  if (auth.kind === "public") return;
  if (auth.kind === "basic") return void getSender(context);
  requireScope(auth.kind === "apiKey" ? getPartner(context) : getAccount(context), auth.scope);
};
