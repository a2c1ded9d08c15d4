import { verifyAccessToken } from "#lib/employee/access-token.ts";
import { prepareVerifying } from "#lib/employee/token-key.ts";
import { authorizer } from "#lib/http/authorizer.ts";
import { accountToContext } from "#lib/http/caller.ts";

prepareVerifying();

/** Authorizes an employee account by its access token (RFC 6750, 2.1). */
export const handler = authorizer(async ({ authorization }) => {
  const token = authorization?.match(/^Bearer +(\S+)$/i)?.[1];
  const account = token ? await verifyAccessToken(token) : undefined;
  return account && { principalId: account.accountId, context: accountToContext(account) };
});
