import { prepareDatabase } from "#lib/db/database.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { verifyClaims } from "#lib/resident/reader.ts";
import { verifyResident as route } from "#lib/routes/resident.ts";
import { preparePepper } from "#lib/secrets/pepper.ts";

prepareDatabase();
preparePepper();

/** Says which values of a citizen match the register, without showing any; the database audits it like a read. */
export const handler = endpoint(route).handler(async ({ body, headers, partner, requestId }) => ({
  data: await verifyClaims(body, { ...partner(), ...headers, requestId }),
}));
