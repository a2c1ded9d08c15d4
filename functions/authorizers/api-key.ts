import { prepareDatabase } from "#lib/db/database.ts";
import { authorizer } from "#lib/http/authorizer.ts";
import { partnerToContext } from "#lib/http/caller.ts";
import { findPartnerByKey } from "#lib/partner/authenticate.ts";

prepareDatabase();

/** Authorizes a partner agency by the key in `apikey`, never in the URL. */
export const handler = authorizer(async (headers) => {
  const partner = headers.apikey ? await findPartnerByKey(headers.apikey) : undefined;
  return (
    partner && {
      principalId: partner.partnerId,
      context: partnerToContext(partner),
      usageIdentifierKey: partner.usageIdentifier,
    }
  );
});
