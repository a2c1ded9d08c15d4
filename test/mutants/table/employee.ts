import type { Mutant } from "../mutant.ts";

const sql = "lib/db/migrations/0002.do.employee.sql";
const races = ["test/employee/races.test.ts"];
const throttle = ["test/employee/throttle.test.ts"];
const refresh = ["test/employee/refresh.test.ts"];
const bearer = ["test/employee/bearer.test.ts"];

export const employee: readonly Mutant[] = [
  {
    breaks: "Two that spend a refresh token at once both get a successor of their own",
    file: sql,
    find: "where t.digest = presented for update of s;",
    replace: "where t.digest = presented;",
    tests: races,
  },
  {
    breaks: "A spent refresh token gets its successor again for five minutes",
    file: sql,
    find: "interval '30 seconds' then",
    replace: "interval '5 minutes' then",
    tests: refresh,
  },
  {
    breaks: "A refresh token that is used twice is rejected, but its session goes on",
    file: sql,
    find: "update employee.session set ended_at = clock_timestamp(), end_reason = 'reuse' where id = held.id;",
    replace: "perform from employee.session where id = held.id;",
    tests: refresh,
  },
  {
    breaks: "Each refresh prolongs the session",
    file: sql,
    find: "    insert into employee.refresh_token (digest, session_id) values (successor, held.id);",
    replace: `    insert into employee.refresh_token (digest, session_id) values (successor, held.id);
    update employee.session set expires_at = clock_timestamp() + interval '30 days' where id = held.id;`,
    tests: refresh,
  },
  {
    breaks: "A session of thirty days may still be refreshed when it has expired",
    file: sql,
    find: " or held.expires_at <= clock_timestamp() then",
    replace: " then",
    tests: refresh,
  },
  {
    breaks: "An account has six failures instead of five",
    file: sql,
    find: "refused := tallied.failed + tallied.awaited >= 5;",
    replace: "refused := tallied.failed + tallied.awaited > 5;",
    tests: throttle,
    only: "the account",
  },
  {
    breaks: "Attempts under way do not count, so that many at once pass the limit of an address",
    file: sql,
    find: "refused or tallied.failed + tallied.awaited >= 10;",
    replace: "refused or tallied.failed >= 10;",
    tests: throttle,
    only: "the address",
  },
  {
    breaks: "Retry-After of an address says 15 seconds instead of the rest of the minute",
    file: sql,
    find: "tallied.oldest + interval '1 minute' - clock_timestamp()",
    replace: "tallied.oldest + interval '15 seconds' - clock_timestamp()",
    tests: races,
  },
  {
    breaks: "Retry-After counts from the newest attempt instead of the oldest",
    file: sql,
    find: "count(*) filter (where waits), min(made_at))",
    replace: "count(*) filter (where waits), max(made_at))",
    tests: races,
  },
  {
    breaks: "Two reservations for one account do not wait for each other",
    file: sql,
    find: "perform pg_advisory_xact_lock(7206302, hashtext(encode(account, 'hex')));",
    replace: "perform pg_try_advisory_xact_lock(7206302, hashtext(encode(account, 'hex')));",
    tests: races,
  },
  {
    breaks: "A login forgives what failed for the account from elsewhere",
    file: sql,
    find: `gone.failed_at is not null and gone.account_digest = own.account_digest
    and gone.address_digest is not distinct from own.address_digest));`,
    replace: "gone.failed_at is not null and gone.account_digest = own.account_digest));",
    tests: races,
  },
  {
    breaks: "Guesses at a ticket's passphrase are counted as guesses at a login",
    file: "functions/employee/ticket.ts",
    find: `kind: "ticket", account`,
    replace: `kind: "login", account`,
    tests: throttle,
    only: "counted apart",
  },
  {
    breaks: "An account has five more failures for each spelling of its name",
    file: "lib/employee/attempt.ts",
    find: "account.toLowerCase()",
    replace: "account",
    tests: throttle,
    only: "the account",
  },
  {
    breaks: "A failure of the old system counts as a wrong password",
    file: "lib/employee/attempt.ts",
    find: "select employee.release_attempt(",
    replace: "select employee.fail_attempt(",
    tests: ["test/employee/attempt.test.ts"],
  },
  {
    breaks: "A wrong password is refused as soon as the legacy system has refused it",
    file: "lib/employee/login.ts",
    find: "  await setTimeout(rejectionDelayMs(performance.now() - started));",
    replace: "  void setTimeout(rejectionDelayMs(performance.now() - started));",
    tests: throttle,
    only: "half a second",
  },
  {
    breaks: "A token of another type that our key signed opens the endpoints",
    file: "lib/employee/access-token.ts",
    find: "      typ: type,\n      issuer,",
    replace: "      issuer,",
    tests: bearer,
    only: "a token",
  },
  {
    breaks: "A token of another issuer opens the endpoints",
    file: "lib/employee/access-token.ts",
    find: "      issuer,\n      audience,",
    replace: "      audience,",
    tests: bearer,
    only: "a token",
  },
  {
    breaks: "An access token lives a minute beyond its expiry",
    file: "lib/employee/access-token.ts",
    find: "      typ: type,\n      issuer,",
    replace: "      typ: type,\n      clockTolerance: 60,\n      issuer,",
    tests: bearer,
    only: "a token",
  },
  {
    breaks: "What the gateway keeps admits a token beyond its expiry",
    file: "lib/http/caller.ts",
    find: "if (Number(expires_at) * 1_000 <= Date.now())",
    replace: "if (Number(expires_at) <= Date.now() / 1_000_000)",
    tests: bearer,
    only: "beyond its expiry",
  },
  {
    breaks: "A key id that no key has is answered with the current key",
    file: "lib/employee/token-key.ts",
    find: "  if (!found) lastMissAt = Date.now();\n  return found;",
    replace: "  if (!found) lastMissAt = Date.now();\n  return found ?? getSigningKey();",
    tests: ["test/employee/token-key.test.ts"],
  },
  {
    breaks: "A login gives the scopes of any account",
    file: "lib/employee/legacy-auth.ts",
    find: "access.includes(name) ? (scopeOf[name] ?? []) : []",
    replace: "access.length > 0 ? (scopeOf[name] ?? []) : []",
    tests: ["test/employee/adapters.test.ts"],
  },
];
