// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const authenticate = ["test/sender/authenticate.test.ts"];
const command = ["test/commands/sender.test.ts"];
const ofTerms = ["test/messenger/accept/terms.test.ts"];
const senders = ["test/messaging/senders.test.ts"];
const sql = "lib/db/migrations/0016.do.sender.sql";
const quota = "lib/messenger/accept/quota.ts";
const store = "lib/messenger/outbox/store.ts";

/** Credentials of senders, and what each may send and read. */
export const terms: readonly Mutant[] = [
  {
    breaks: "A password is accepted with the name of another sender",
    file: sql,
    find: "where c.sender = presented_name and c.digest = presented and",
    replace: "where c.digest = presented and",
    tests: authenticate,
    only: "its own name only",
  },
  {
    breaks: "A revoked password of a sender is accepted",
    file: sql,
    find: "return (credential).revoked_at is null\n  and now()",
    replace: "return now()",
    tests: authenticate,
    only: "revoked or expired",
  },
  {
    breaks: "The authorizer may read the digests of passwords",
    file: sql,
    find: "grant execute on function messaging.authenticate_sender to municipal_gatekeeper;",
    replace:
      "grant execute on function messaging.authenticate_sender to municipal_gatekeeper;\ngrant select (digest) on messaging.sender_credential to municipal_gatekeeper;",
    tests: ["test/db/privileges/reach.test.ts"],
    only: "municipal_gatekeeper has exactly",
  },
  {
    breaks: "Each wrong password costs a query",
    file: "lib/db/token-lookup.ts",
    find: "if (!isToken(prefix, token)) return undefined;",
    replace: "",
    tests: authenticate,
    only: "need no database",
  },
  {
    breaks: "After a typo in the name the right one is rejected for 10 s",
    file: "lib/db/token-lookup.ts",
    find: `digestToken(\`\${name} \${token}\`)`,
    replace: "digestToken(token)",
    tests: authenticate,
    only: "at once",
  },
  {
    breaks: "A name that no database stores makes the authorizer fail",
    file: "lib/sender/authenticate.ts",
    find: "namePattern.test(name) ?",
    replace: "name !== undefined ?",
    tests: authenticate,
    only: "its own name only",
  },
  {
    breaks: "A revoked password works for a minute",
    file: "lib/routes/authorizer.ts",
    find: 'cacheSeconds: 30,\n  secrets: { BASIC_SECRET_ID: "messaging-basic",',
    replace: 'cacheSeconds: 60,\n  secrets: { BASIC_SECRET_ID: "messaging-basic",',
    tests: ["test/aws/limits.test.ts"],
    only: "cache time",
  },
  {
    breaks: "A rotation ends the old password at once",
    file: "lib/sender/directory.ts",
    find: "set retires_at = least(retires_at, now() + ${overlapMs} * interval '1 millisecond')",
    replace: "set retires_at = least(retires_at, now() + ${overlapMs} * interval '0')",
    tests: command,
    only: "end of the overlap",
  },
  {
    breaks: "A limit that was not given is removed",
    file: "lib/sender/directory.ts",
    find: "case when ${perDay === undefined} then per_day else",
    replace: "case when ${perDay === null} then per_day else",
    tests: command,
    only: "one by one",
  },
  {
    breaks: "The use of other days counts as today's",
    file: "lib/sender/terms.ts",
    find: "where day = messaging.today() and",
    replace: "where day <= messaging.today() and",
    tests: command,
    only: "accepted today",
  },
  {
    breaks: "Any class may be sent",
    file: quota,
    find: "if (allowed && !allowed.includes(wanted))",
    replace: "if (allowed && allowed.length === 0)",
    tests: ofTerms,
    only: "403",
  },
  {
    breaks: "A sender may have one message more than its quota of the day",
    file: quota,
    find: "room.messages < 1",
    replace: "room.messages < 0",
    tests: ofTerms,
    only: "until midnight",
  },
  {
    breaks: "The quota of yesterday is that of today",
    file: quota,
    find: "where sender = ${sender} and day = messaging.today()",
    replace: "where sender = ${sender} and day <= messaging.today()",
    tests: ofTerms,
    only: "until midnight",
  },
  {
    breaks: "A day ends at midnight in London",
    file: quota,
    find: "(messaging.today() + 1)::timestamp at time zone 'Asia/Jakarta'",
    replace: "(messaging.today() + 1)::timestamp at time zone 'UTC'",
    tests: ofTerms,
    only: "until midnight",
  },
  {
    breaks: "Requests within a second exceed the quota of messages",
    file: quota,
    find: "if (room.messages !== null) room.messages -= 1;",
    replace: "",
    tests: ofTerms,
    only: "within a second",
  },
  {
    breaks: "Downloaded media cost no quota",
    file: "lib/messenger/accept/acceptance.ts",
    find: "if (!inline) await quota.takeBytes(submission.sender, sizeBytes);",
    replace: "",
    tests: ofTerms,
    only: "download",
  },
  {
    breaks: "Media are not counted",
    file: store,
    find: "sum(given.bytes + coalesce(size_bytes, 0))",
    replace: "sum(given.bytes)",
    tests: ofTerms,
    only: "counted once",
  },
  {
    breaks: "The state of a message is told to every sender",
    file: "lib/messenger/outbox/state.ts",
    find: "${sender === undefined ? sql`` : sql`and sender = ${sender}`}",
    replace: "${sender === undefined ? sql`` : sql`and ${sender} <> ''`}",
    tests: senders,
    only: "unknown to every other",
  },
  {
    breaks: "Two senders share an Idempotency-Key",
    file: "lib/messenger/outbox/idempotency.ts",
    find: "keyDigest: digest(submission.sender, key),",
    replace: "keyDigest: digest(key),",
    tests: senders,
    only: "same Idempotency-Key",
  },
  {
    breaks: "The log of a function does not say who sends",
    file: "lib/http/endpoint.ts",
    find: 'auth.kind === "basic" && {',
    replace: 'auth.kind === "bearer" && {',
    tests: senders,
    only: "in the log",
  },
];
