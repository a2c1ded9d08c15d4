import type { Mutant } from "../mutant.ts";

const file = "lib/db/migrations/0020.do.resident-walk.sql";
const walkTest = ["test/resident/walk.test.ts"];
const cursorTest = ["test/resident/cursor.test.ts"];

export const walk: readonly Mutant[] = [
  {
    breaks: "Changes end with the newest transaction, and lose what an older one commits later",
    file,
    find: "pg_snapshot_xmin(pg_current_snapshot())",
    replace: "pg_snapshot_xmax(pg_current_snapshot())",
    tests: walkTest,
    only: "older",
  },
  {
    breaks: "A changed resident has the transaction that added it",
    file,
    find: "  new.changed_in := pg_current_xact_id();\n",
    replace: "",
    tests: walkTest,
    only: "one statement",
  },
  {
    breaks: "Removals are not told",
    file,
    find: "select id from old_rows on conflict",
    replace: "select id from old_rows where false on conflict",
    tests: walkTest,
    only: "one statement",
  },
  {
    breaks: "A resident that was brought back is removed from the copy",
    file,
    find: "and not exists (select from resident.resident present where present.id = r.resident_id)",
    replace: "",
    tests: walkTest,
    only: "brought back",
  },
  {
    breaks: "A full page is the last one",
    file,
    find: "if cardinality(ids) > page_size then",
    replace: "if cardinality(ids) > page_size + 1 then",
    tests: walkTest,
    only: "full",
  },
  {
    breaks: "The signature of a cursor is not checked",
    file,
    find: "    or sha256(substr(content, length(content) - 31)) <> sha256(extension.hmac(sealed, keys.mac_key, 'sha256'))\n",
    replace: "",
    tests: cursorTest,
    only: "any character",
  },
  {
    breaks: "A cursor may be spelled in two ways",
    file,
    find: "if resident.to_base64url(content) = code then",
    replace: "if true then",
    tests: cursorTest,
    only: "any character",
  },
  {
    breaks: "Any cursor fits both fields",
    file,
    find: " or (place.kind = 'since') <> (after is null)",
    replace: "",
    tests: cursorTest,
    only: "own partner",
  },
  {
    breaks: "All partners have the same ids",
    file,
    find: "(select w.id_key from resident.walker w where w.partner_id = partner)",
    replace: "(select w.id_key from resident.walker w order by w.partner_id limit 1)",
    tests: cursorTest,
    only: "none in common",
  },
  {
    breaks: "A cursor outlives a restore of a dump",
    file,
    find: " and r.xmin = place.read_in::xid",
    replace: "",
    tests: cursorTest,
    only: "of a dump",
  },
  {
    breaks: "A cursor may be older than the removals",
    file,
    find: "coalesce(place.since, place.until) < now()",
    replace: "place.until < now()",
    tests: cursorTest,
    only: "90 days",
  },
  {
    breaks: "The first page of a new walker has no ids",
    file: "lib/db/migrations/0009.do.resident-reading.sql",
    find: `    place := resident.begin_walk(partner_id, after, changed_since);
    select * into step from resident.walk(
      place, `,
    replace: `    select * into step from resident.walk(
      resident.begin_walk(partner_id, after, changed_since), `,
    tests: walkTest,
    only: "a removal is told once",
  },
  {
    breaks: "The first hundred residents of each page of a walk are no look-ups",
    file: "lib/db/migrations/0009.do.resident-reading.sql",
    find: "case when is_walk then 100 else (page_number - 1) * page_size end",
    replace: "(page_number - 1) * page_size",
    tests: ["test/resident/limits.test.ts"],
    only: "a walk looks up each resident",
  },
  {
    breaks: "A walk shows fields that the agreement lacks",
    file: "lib/db/migrations/0009.do.resident-reading.sql",
    find: "      place, partner_id, page_size, resident.granted_fields(partner_id, key_id));",
    replace: "      place, partner_id, page_size, null);",
    tests: ["test/resident/fields.test.ts"],
  },
];
