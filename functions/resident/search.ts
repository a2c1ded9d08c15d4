import { prepareDatabase } from "#lib/db/database.ts";
import { requireScope } from "#lib/http/caller.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { searchResidents } from "#lib/resident/reader.ts";
import { searchResidents as route } from "#lib/routes/resident.ts";
import { preparePepper } from "#lib/secrets/pepper.ts";

prepareDatabase();
preparePepper();

/** Returns one page of masked residents by NIK, part of a name or both; the database audits the read. */
export const handler = endpoint(route).handler(async ({ body, headers, partner, requestId }) => {
  if (body.p_nik !== undefined) requireScope(partner(), "resident:number");
  return searchResidents(
    { nik: body.p_nik, name: body.p_nama },
    { number: body.page_number, size: body.page_size },
    { ...partner(), ...headers, requestId },
  );
});
