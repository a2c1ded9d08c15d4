import { prepareDatabase } from "#lib/db/database.ts";
import { login } from "#lib/employee/login.ts";
import { prepareSigning } from "#lib/employee/token-key.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { login as route } from "#lib/routes/employee.ts";
import { preparePepper } from "#lib/secrets/pepper.ts";

prepareDatabase();
preparePepper();
prepareSigning();

/**
 * Exchanges account credentials for a token pair.
 *
 * Every failure is the same 401: the caller must not learn which accounts exist.
 */
export const handler = endpoint(route).handler(async ({ body, sourceIp }) => login(body, sourceIp));
