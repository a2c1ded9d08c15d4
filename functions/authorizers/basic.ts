import { authorizer } from "#lib/http/authorizer.ts";
import { senderToContext } from "#lib/http/caller.ts";
import { findUsername, prepareCredentials } from "#lib/sender/basic-auth.ts";

prepareCredentials();

/** Authorizes a backend by the Basic credentials of the messaging API (RFC 7617). */
export const handler = authorizer(async ({ authorization }) => {
  const username = await findUsername(authorization);
  return username === undefined
    ? undefined
    : { principalId: username, context: senderToContext({ username }) };
});
