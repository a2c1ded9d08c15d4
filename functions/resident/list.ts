import { prepareDatabase } from "#lib/db/database.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { listResidents } from "#lib/resident/reader.ts";
import { listResidents as route } from "#lib/routes/resident.ts";

prepareDatabase();

/** Returns one page of masked residents, newest first; the database audits the read. */
export const handler = endpoint(route).handler(async ({ body, headers, partner, requestId }) =>
  listResidents({ number: body.page_number, size: body.page_size }, { ...partner(), ...headers, requestId }),
);
