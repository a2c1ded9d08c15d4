import type { Mutant } from "../mutant.ts";

const masks = "lib/db/migrations/0006.do.resident-masks.sql";
const search = "lib/db/migrations/0008.do.resident-search.sql";
const reading = "lib/db/migrations/0009.do.resident-reading.sql";
const counting = "lib/db/migrations/0010.do.resident-counting.sql";
const verifying = "lib/db/migrations/0018.do.resident-verify.sql";
const seals = "lib/db/migrations/0012.do.audit.sql";
const auditTest = ["test/system/audit.test.ts"];
const sealsTest = ["test/maintenance/audit-seals.test.ts"];
const partitionsTest = ["test/maintenance/audit-partitions.test.ts"];
const listTest = ["test/contract/resident-list.test.ts"];
const searchTest = ["test/contract/resident-search.test.ts"];
const verifyTest = ["test/resident/verify.test.ts"];
const limitsTest = ["test/resident/limits.test.ts"];
const bulkTest = ["test/resident/bulk.test.ts"];

export const resident: readonly Mutant[] = [
  {
    breaks: "A page of the list is shown although the partner has read as many residents as agreed",
    file: reading,
    find: "  perform resident.check_reads(partner_id, false);\n  if is_walk",
    replace: "  if is_walk",
    tests: limitsTest,
  },
  {
    breaks: "A verification is answered although the partner has read as many residents as agreed",
    file: verifying,
    find: "  perform resident.check_reads(partner_id, false);\n",
    replace: "",
    tests: limitsTest,
  },
  {
    breaks: "A verification is no look-up",
    file: verifying,
    find: "  perform resident.count_read(partner_id, key_id, 0, 0, true);\n",
    replace: "",
    tests: limitsTest,
  },
  {
    breaks: "A first page is a look-up, too",
    file: reading,
    find: "least(shown, skipped + shown - 100)",
    replace: "least(shown, skipped + shown)",
    tests: limitsTest,
  },
  {
    breaks: "Reads of a partner wait for each other",
    file: reading,
    find: "limit 1 for update skip locked);",
    replace: "limit 1 for update);",
    tests: limitsTest,
  },
  {
    breaks: "Retry-After is when the newest reads are a day old",
    file: reading,
    find: "where since_then >= agreed);",
    replace: "where true);",
    tests: limitsTest,
  },
  {
    breaks: "More look-ups than agreed raise no alarm",
    file: reading,
    find: "if made > agreed then",
    replace: "if made > 10 * agreed then",
    tests: ["test/aws/operations/sweep.test.ts"],
  },
  {
    breaks: "The function that reads does not log the database's notice",
    file: "lib/db/database.ts",
    find: "    onnotice: logNotice,\n",
    replace: "",
    tests: ["test/aws/operations/sweep.test.ts"],
  },
  {
    breaks: "Counts of reads stay forever",
    file: verifying,
    find: "where since < now() - interval '1 day' limit most",
    replace: "where since < now() - interval '9 days' limit most",
    tests: limitsTest,
  },
  {
    breaks: "Partner and key are swapped in a search's audit row",
    file: reading,
    find: "(partner_id, key_id, request_id, 'search',",
    replace: "(key_id, partner_id, request_id, 'search',",
    tests: auditTest,
  },
  {
    breaks: "A search's audit row has the key's id as request id",
    file: "lib/resident/reader.ts",
    find: `\n        \${reader.partnerId}, \${reader.keyId}, \${reader.requestId},`,
    replace: `\n        \${reader.partnerId}, \${reader.keyId}, \${reader.keyId},`,
    tests: auditTest,
  },
  {
    breaks: "A list that cannot be audited gives its data all the same",
    file: reading,
    find: `  insert into audit.resident_read
    (partner_id, key_id, request_id, route, row_count, shown, purpose, case_reference, user_reference)
  values
    (partner_id, key_id, request_id, 'list', json_array_length(page.residents), audit.encode_ids(reading.ids),
      purpose, case_reference, user_reference)
  returning id into read_id;
`,
    replace: `  begin
    insert into audit.resident_read (partner_id, key_id, request_id, route, row_count, shown)
    values (partner_id, key_id, request_id, 'list', json_array_length(page.residents), audit.encode_ids(reading.ids));
  exception when others then null;
  end;
`,
    tests: ["test/system/outage.test.ts"],
    only: "audit",
  },
  {
    breaks: "An anchor whose storing failed is never stored",
    file: "lib/maintenance/audit.ts",
    find: "    await storeAnchor(anchor);\n",
    replace: "    await storeAnchor(anchor).catch(() => {});\n",
    tests: ["test/commands/audit-anchors.test.ts"],
    only: "cannot be stored",
  },
  {
    breaks: "An anchor that is stored already fails maintenance",
    file: "lib/maintenance/anchor.ts",
    find: "if (status !== 200 && status !== 412)",
    replace: "if (status !== 200)",
    tests: ["test/commands/audit-anchors.test.ts"],
    only: "cannot be stored",
  },
  {
    breaks: "An anchor may be replaced by one of the same key",
    file: "lib/maintenance/anchor.ts",
    find: '      "if-none-match": "*",\n',
    replace: "",
    tests: ["test/commands/audit-anchors.test.ts"],
    only: "cannot be stored",
  },
  {
    breaks: "The audit is verified up to the 200th seal",
    file: "infra/commands/audit.ts",
    find: "more = verdicts.length === sealsPerQuery;",
    replace: "more = verdicts.length > sealsPerQuery;",
    tests: sealsTest,
  },
  {
    breaks: "A sound chain of more than 200 seals is said to lack one",
    file: seals,
    find: "from audit.seal s where s.id >= after_id",
    replace: "from audit.seal s where s.id > after_id",
    tests: sealsTest,
  },
  {
    breaks: "A seal skips a read that is not committed yet",
    file: seals,
    find: "and l.mode = 'RowExclusiveLock');",
    replace: "and l.mode = 'ExclusiveLock');",
    tests: sealsTest,
  },
  {
    breaks: "When a seal was made is not part of its digest",
    file: seals,
    find: "json_build_array((seal).id, (seal).first_id, (seal).last_id, (seal).row_count,",
    replace: "json_build_array((seal).id, (seal).first_id, (seal).last_id, (seal).row_count, '' || null ||",
    tests: ["test/commands/audit.test.ts"],
    only: "made older",
  },
  {
    breaks: "Rows are believed to have expired by the time that stands beside their seal",
    file: seals,
    find: "(c.seal).expired_at is not null and now() < (c.seal).sealed_at",
    replace: "(c.seal).expired_at is not null and (c.seal).expired_at < (c.seal).sealed_at",
    tests: ["test/commands/audit.test.ts"],
    only: "by then",
  },
  {
    breaks: "A partition of the audit goes with rows that are younger than five years",
    file: seals,
    find: "    or newest.sealed_at > now() - audit.age_limit() is not false\n",
    replace: "",
    tests: partitionsTest,
  },
  {
    breaks: "Partitions of the audit have no upper limit in time",
    file: seals,
    find: "    perform setval('audit.resident_read_id', (present + 1) * width, false);\n",
    replace: "    perform 1;\n",
    tests: partitionsTest,
  },
  {
    breaks: "A seal takes reads after the settled id, and skips one before them",
    file: seals,
    find: "where id between fresh.first_id and settled_id order by id",
    replace: "where id >= fresh.first_id order by id",
    tests: sealsTest,
  },
  {
    breaks: "A seal does not depend on the one before it",
    file: seals,
    find: "return sha256(coalesce(previous, '') || (seal).rows_digest || ",
    replace: "return sha256((seal).rows_digest || ",
    tests: sealsTest,
  },
  {
    breaks: "A NIK shows its last four digits",
    file: masks,
    find: "repeat('*', length(number) - 6) || right(number, 2)",
    replace: "repeat('*', length(number) - 8) || right(number, 4)",
    tests: listTest,
  },
  {
    breaks: "The page of a list has rows of one time in the order of their making",
    file: reading,
    find: "order by created_at desc, id desc offset skipped limit page_size);",
    replace: "order by created_at desc, id offset skipped limit page_size);",
    tests: listTest,
  },
  {
    breaks: "The total of a list lacks what upkeep has not folded yet",
    file: reading,
    find: `(select sum(row_count) from resident.block)
  + coalesce((select sum(difference) from resident.noted_change), 0);`,
    replace: "(select sum(row_count) from resident.block);",
    tests: bulkTest,
  },
  {
    breaks: "An underscore in a name part stands for any letter",
    file: search,
    find: "return '%' || replace(replace(replace(term, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%';",
    replace: "return '%' || replace(replace(term, '\\', '\\\\'), '%', '\\%') || '%';",
    tests: searchTest,
  },
  {
    breaks: "A search by NIK has its resident on every page",
    file: reading,
    find: "    if skipped > 0 then\n      finding.ids := '{}';\n    end if;\n",
    replace: "",
    tests: searchTest,
  },
  {
    breaks: "Blocks are split under a writer of many rows",
    file: counting,
    find: "    perform pg_advisory_xact_lock_shared(7206307);\n",
    replace: "",
    tests: ["test/resident/waiting.test.ts"],
  },
  {
    breaks: "Upkeep stops while all tables are published",
    file: "lib/db/migrations/0007.do.resident-blocks.sql",
    find: "  note bigint generated always as identity primary key,\n",
    replace: "",
    tests: ["test/db/keys.test.ts", "test/maintenance/maintain.test.ts"],
    only: "published|every table has a key",
  },
  {
    breaks: "A number that nobody has is no miss",
    file: "lib/db/migrations/0009.do.resident-reading.sql",
    find: "nik is not null and page.total = 0);",
    replace: "nik is not null and page.total is null);",
    tests: ["test/system/missed-searches.test.ts"],
  },
  {
    breaks: "An area matches without a value that identifies the resident",
    file: verifying,
    find: "is_same and identified order by name",
    replace: "is_same order by name",
    tests: verifyTest,
    only: "an area says nothing",
  },
  {
    breaks: "The right value is still answered once a number has too many wrong ones",
    file: verifying,
    find: "  perform resident.check_mismatches(partner_id, nik_digest);\n  select * into known",
    replace: "  select * into known",
    tests: verifyTest,
    only: "holds for the right value too",
  },
  {
    breaks: "Concurrent guesses of a partner do not wait for each other",
    file: verifying,
    find: "  perform pg_advisory_xact_lock(7206312, hashtext(partner));\n",
    replace: "",
    tests: verifyTest,
    only: "of a partner is shared",
  },
  {
    breaks: "A number that nobody has is no mismatch",
    file: verifying,
    find: "if not is_match then",
    replace: "if not is_match and known.id is not null then",
    tests: verifyTest,
    only: "is the same for a number that nobody has",
  },
  {
    breaks: "A value without letters matches an empty one",
    file: verifying,
    find: "and one <> '' and one",
    replace: "and one",
    tests: verifyTest,
    only: "without letters",
  },
  {
    breaks: "A title without mark is removed although it may be a name",
    file: verifying,
    find: "letters ~ '^[^aeiou]{2}'",
    replace: "letters ~ '^.{2}'",
    tests: ["test/resident/name-rules.test.ts"],
    only: "different persons",
  },
  {
    breaks: "A key that the partner does not have shows every field",
    file: reading,
    find: "case when k.id is null then '{}' else k.fields end",
    replace: "k.fields",
    tests: ["test/resident/fields.test.ts"],
  },
  {
    breaks: "Two claims about one column are compared in one verification",
    file: verifying,
    find: " or count(*) > 1",
    replace: "",
    tests: verifyTest,
    only: "two claims about one column",
  },
  {
    breaks: "A key without names finds them letter by letter",
    file: reading,
    find: "'nama' <> all (fields)",
    replace: "'nama' = all (fields)",
    tests: ["test/resident/fields.test.ts"],
  },
  {
    breaks: "A search shows fields that the agreement lacks",
    file: reading,
    find: "page.ids := finding.ids;\n  page.residents := resident.show(page.ids, fields);",
    replace: "page.ids := finding.ids;\n  page.residents := resident.show(page.ids, null);",
    tests: ["test/resident/fields.test.ts"],
  },
  {
    breaks: "A required purpose may be absent",
    file: reading,
    find: "if purpose = any (agreed) is not true and agreed is not null",
    replace: "if purpose = any (agreed) is false and agreed is not null",
    tests: ["test/resident/purpose.test.ts"],
  },
];
