import type { Mutant } from "../mutant.ts";

const sql = "lib/db/migrations/0003.do.partner.sql";
const directory = "lib/partner/directory.ts";
const directoryTest = ["test/partner/directory.test.ts"];
const authenticateTest = ["test/partner/authenticate.test.ts"];
const refusals = ["test/gateway/refusals.test.ts"];

export const partner: readonly Mutant[] = [
  {
    breaks: "The authorizer may read the digests of keys",
    file: sql,
    find: "grant execute on function partner.authenticate to municipal_gatekeeper;",
    replace:
      "grant execute on function partner.authenticate to municipal_gatekeeper;\ngrant select (digest) on partner.api_key to municipal_gatekeeper;",
    tests: ["test/db/privileges/reach.test.ts"],
    only: "municipal_gatekeeper has exactly",
  },
  {
    breaks: "A second rotation with a longer overlap prolongs the key of the first one",
    file: directory,
    find: "set retires_at = least(retires_at, now() + ",
    replace: "set retires_at = greatest(retires_at, now() + ",
    tests: directoryTest,
  },
  {
    breaks: "A rotation prolongs a key beyond the end that was agreed",
    file: sql,
    find: "coalesce(least((key).expires_at, (key).retires_at), 'infinity')",
    replace: "coalesce((key).retires_at, (key).expires_at, 'infinity')",
    tests: directoryTest,
  },
  {
    breaks: "Revoking a partner leaves its keys active",
    file: directory,
    find: " or partner_id = ",
    replace: " or id = ",
    tests: directoryTest,
  },
  {
    breaks: "A key that has expired opens the endpoints",
    file: sql,
    find: "where k.digest = presented and partner.is_active(k);",
    replace: "where k.digest = presented and k.revoked_at is null;",
    tests: refusals,
  },
  {
    breaks: "An authorizer holds its connection until it is needed again",
    file: "lib/db/token-lookup.ts",
    find: "    await releaseConnection();\n",
    replace: "",
    tests: ["test/system/outage.test.ts"],
    only: "returns its own",
  },
  {
    breaks: "A flood of unknown keys grows the cache without a limit",
    file: "lib/db/token-lookup.ts",
    find: "rejected.size >= maxRejected && ",
    replace: "rejected.size >= maxRejected * 10 && ",
    tests: authenticateTest,
    only: "newest thousand",
  },
  {
    breaks: "The gateway counts by the partner's name, which is in no usage plan",
    file: "functions/authorizers/api-key.ts",
    find: "usageIdentifierKey: partner.usageIdentifier,",
    replace: "usageIdentifierKey: partner.partnerId,",
    tests: refusals,
  },
  {
    breaks: "A key without the scope of a route is admitted",
    file: "lib/http/caller.ts",
    find: "if (!scopes.includes(scope))",
    replace: "if (scopes.length === 0)",
    tests: refusals,
  },
  {
    breaks: "A key that reads residents may also ask whether a guessed number exists",
    file: "functions/resident/search.ts",
    find: 'requireScope(partner(), "resident:number")',
    replace: 'requireScope(partner(), "resident:read")',
    tests: refusals,
    only: "a key without the scope for numbers searches by name only",
  },
];
