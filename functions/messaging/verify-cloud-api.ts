import { prepare } from "#lib/cached.ts";
import { channelAccounts, listCloudApiAccounts } from "#lib/channels/accounts.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { noAccess } from "#lib/errors/table.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { isSameText } from "#lib/opaque-token.ts";
import { PlainReply } from "#lib/routes/route.ts";
import { verifyCloudApi as route } from "#lib/routes/webhooks.ts";

prepare(channelAccounts);

/** Returns the challenge to a platform that presents the verify token of an account. */
export const handler = endpoint(route).handler(async ({ query }) => {
  const { "hub.mode": mode, "hub.verify_token": token, "hub.challenge": challenge } = query;
  const accounts = await listCloudApiAccounts();
  const isKnown = accounts.some(({ verify_token }) => isSameText(token, verify_token));
  if (mode !== "subscribe" || !isKnown) throw new ApiError(noAccess);
  return new PlainReply(challenge, { "content-type": "text/plain; charset=utf-8" });
});
