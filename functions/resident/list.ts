import { prepareDatabase } from "#lib/db/database.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { listResidents, walkResidents } from "#lib/resident/reader.ts";
import { listResidents as route } from "#lib/routes/resident.ts";

prepareDatabase();

/** Returns one page of masked residents, newest first, or a step of a walk; the database audits the read. */
export const handler = endpoint(route).handler(async ({ body, headers, partner, requestId }) => {
  const reader = { ...partner(), ...headers, requestId };
  return body.form === "walk"
    ? walkResidents({ after: body.after, changedSince: body.changed_since, size: body.page_size }, reader)
    : listResidents({ number: body.page_number, size: body.page_size }, reader);
});
