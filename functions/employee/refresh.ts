import { prepareDatabase } from "#lib/db/database.ts";
import { continueSession } from "#lib/employee/session.ts";
import { prepareSigning } from "#lib/employee/token-key.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { refresh as route } from "#lib/routes/employee.ts";

prepareDatabase();
prepareSigning();

/** Exchanges a refresh token for the next pair, in the names of both the contract and OAuth (RFC 6749, 5.1). */
export const handler = endpoint(route).handler(async ({ body, sourceIp, userAgent }) => {
  const session = await continueSession(body.refresh_token, { address: sourceIp, userAgent });
  return { ...session, access_token: session.token, token_type: "Bearer" };
});
