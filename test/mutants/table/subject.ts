import type { Mutant } from "../mutant.ts";

const acts = "lib/db/migrations/0019.do.resident-subject.sql";
const actsTest = ["test/resident/subject.test.ts"];
const commandTest = ["test/commands/subject.test.ts"];

export const subject: readonly Mutant[] = [
  {
    breaks: "An import shows a restricted resident again",
    file: acts,
    find: "if not exists (select from resident.restricted_resident) then",
    replace: "if true then",
    tests: actsTest,
  },
  {
    breaks: "A restricted resident keeps the values from before an import",
    file: acts,
    find: "where r.id = (fresh).id;\nend;",
    replace: "where r.id = -1;\nend;",
    tests: actsTest,
  },
  {
    breaks: "A resident who is shown again has another id",
    file: acts,
    find: "created_at) overriding system value",
    replace: "created_at) overriding user value",
    tests: actsTest,
  },
  {
    breaks: "An import undoes a correction",
    file: acts,
    find: "    perform resident.store_subject(resident.with_corrections(imported));\n    perform resident.end_corrections(imported);\n  end loop;\n  return null;\nend\n$$;\n\n-- Keeps residents",
    replace: "  end loop;\n  return null;\nend\n$$;\n\n-- Keeps residents",
    tests: actsTest,
  },
  {
    breaks: "A correction holds against newer values of the register",
    file: acts,
    find: "to_jsonb(imported) ->> c.column_name = c.replaced;",
    replace: "to_jsonb(imported) ->> c.column_name is not null;",
    tests: actsTest,
  },
  {
    breaks: "A correction ends another one of the same resident",
    file: acts,
    find: " or current_setting('resident.is_act', true) = 'on'",
    replace: "",
    tests: actsTest,
  },
  {
    breaks: "An erased resident's tombstone has no HMAC of the number that a later act finds",
    file: acts,
    find: "values (number, (act).nik_digest,",
    replace: "values (number, sha256((act).nik_digest),",
    tests: actsTest,
  },
  {
    breaks: "A resident can be erased while an import adds them",
    file: acts,
    find: "if not pg_try_advisory_xact_lock(7206313) then",
    replace: "if false then",
    tests: actsTest,
  },
  {
    breaks: "An act is not in the audit of reads",
    file: acts,
    find: "  perform resident.audit_act(act, 'subject-correct', subject, is_done);\n",
    replace: "",
    tests: actsTest,
  },
  {
    breaks: "A report has the users that partners state",
    file: acts,
    find: "'answers', answers, 'requestId', request_id",
    replace: "'answers', answers, 'user', user_reference, 'requestId', request_id",
    tests: commandTest,
  },
  {
    breaks: "A report has the messages to every number",
    file: acts,
    find: "where m.phone = wanted)",
    replace: "where m.phone <> '')",
    tests: commandTest,
  },
  {
    breaks: "An import adds an erased resident again",
    file: "lib/resident/erased.ts",
    find: 'isErased(nik) ? "belongs',
    replace: 'nik === "" ? "belongs',
    tests: commandTest,
  },
  {
    breaks: "An import without the pepper goes on",
    file: "lib/resident/erased.ts",
    find: "  if (!pepper || erased.some(({ version }) => version !== pepper.version)) throw new OtherPepper();",
    replace: "  if (!pepper) return residentImport;",
    tests: commandTest,
  },
  {
    breaks: "Residents are erased without a question",
    file: "infra/commands/subject/subject.ts",
    find: "if (!lift && !yes) await confirm",
    replace: "if (lift) await confirm",
    tests: commandTest,
  },
  {
    breaks: "Anybody on the machine reads the page for a citizen",
    file: "infra/commands/subject/report.ts",
    find: "mode: 0o600",
    replace: "mode: 0o644",
    tests: commandTest,
  },
];
