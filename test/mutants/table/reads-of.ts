import type { Mutant } from "../mutant.ts";

const reading = "lib/db/migrations/0009.do.resident-reading.sql";
const audit = "lib/db/migrations/0012.do.audit.sql";
const verifying = "lib/db/migrations/0018.do.resident-verify.sql";
const shownTest = ["test/resident/shown.test.ts"];
const readsOfTest = ["test/resident/reads-of.test.ts"];

/** Whom each read showed, and the reads of a resident. */
export const readsOf: readonly Mutant[] = [
  {
    breaks: "A list stores the first id of its page alone",
    file: reading,
    find: "'list', json_array_length(page.residents), audit.encode_ids(reading.ids),",
    replace: "'list', json_array_length(page.residents), audit.encode_ids(reading.ids[:1]),",
    tests: shownTest,
  },
  {
    breaks: "A search stores nobody",
    file: reading,
    find: "json_array_length(page.residents), audit.encode_ids(reading.ids), purpose",
    replace: "json_array_length(page.residents), '', purpose",
    tests: shownTest,
  },
  {
    breaks: "A verification with a wrong value stores nobody",
    file: verifying,
    find: "audit.encode_ids(array[coalesce(known.id, 0)])",
    replace: "audit.encode_ids(array[case when is_match then known.id else 0 end])",
    tests: shownTest,
  },
  {
    breaks: "Who was shown is not sealed",
    file: audit,
    find: "user_reference, encode(shown, 'hex'))::text",
    replace: "user_reference)::text",
    tests: shownTest,
    only: "one changed id",
  },
  {
    breaks: "A reader merges what others have appended to the index of who was shown",
    file: audit,
    find: "\n  with (gin_pending_list_limit = 4194304);",
    replace: ";",
    tests: shownTest,
    only: "only appends",
  },
  {
    breaks: "The reads of a resident are found by walking through all reads",
    file: audit,
    find: "set enable_seqscan = off\nset enable_indexscan = off\n",
    replace: "",
    tests: readsOfTest,
    only: "by its index alone",
  },
  {
    breaks: "Each partition lists as many reads of a resident as were asked for",
    file: audit,
    find: "using resident_id, most - listed;",
    replace: "using resident_id, most;",
    tests: readsOfTest,
    only: "across partitions",
  },
];
