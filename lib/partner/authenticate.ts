import { tokenLookup } from "#lib/db/token-lookup.ts";
import type { Partner } from "#lib/http/caller.ts";

export interface AuthenticatedPartner extends Partner {
  /** Identifies the partner's usage plan to API Gateway, for throttling and quota. */
  readonly usageIdentifier: string;
}

type Row = Omit<AuthenticatedPartner, "scopes"> & { scopes: string };

export const keyPrefix = "mia_";

const findRow = tokenLookup(
  keyPrefix,
  (sql, digest) => sql<Row[]>`
    select partner_id as "partnerId", key_id as "keyId", scopes, usage_identifier as "usageIdentifier"
    from partner.authenticate(${digest})`,
);

/** Finds the partner with this active key. */
export const findPartnerByKey = async (key: string): Promise<AuthenticatedPartner | undefined> => {
  const row = await findRow(key);
  return row && { ...row, scopes: row.scopes.split(" ") };
};
