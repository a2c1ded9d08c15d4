import type { Mutant } from "../mutant.ts";

const outage = ["test/system/outage.test.ts"];
const rotation = ["test/secrets/rotation/login.test.ts"];
const rotatedKeys = ["test/secrets/rotation/key.test.ts"];
const migrate = ["test/deployment/migrate.test.ts"];
const maintain = ["test/maintenance/maintain.test.ts"];

export const functions: readonly Mutant[] = [
  {
    breaks: "Filling secrets stops at the first one that has a value",
    file: "functions/fill-secrets.ts",
    find: `"AWSCURRENT")) !== undefined) continue;`,
    replace: `"AWSCURRENT")) !== undefined) return;`,
    tests: ["test/deployment/fill-secrets.test.ts"],
  },
  {
    breaks: "Filling secrets replaces the values that are there",
    file: "functions/fill-secrets.ts",
    find: `    if ((await findSecret(id, z.unknown(), "AWSCURRENT")) !== undefined) continue;`,
    replace: `    if ((await findSecret(id, z.null(), "AWSCURRENT").catch(() => undefined)) !== undefined) continue;`,
    tests: ["test/deployment/fill-secrets.test.ts"],
  },
  {
    breaks: "A rotation fails where only the version before still logs in",
    file: "lib/secrets/table/rotation.ts",
    find: `read("AWSPREVIOUS")`,
    replace: `read("AWSPENDING")`,
    tests: rotation,
    only: "version before",
  },
  {
    breaks: "A rotation proves nothing before it makes the coming password the current one",
    file: "lib/secrets/table/rotation.ts",
    find: "testPassword(next)",
    replace: `testPassword(await read("AWSCURRENT"))`,
    tests: rotation,
    only: "testSecret",
  },
  {
    breaks: "A secret that must never change is rotated",
    file: "lib/secrets/table/rotation.ts",
    find: `  if ("never" in rotation) throw new Error(\`secret \${arn} is never rotated: \${rotation.never}\`);
  return { row, method: rotation.method };`,
    replace: `  return { row, method: "never" in rotation ? "overlap" : rotation.method };`,
    tests: rotatedKeys,
    only: "with the reason",
  },
  {
    breaks: "A rotation changes another stage's secret",
    file: "lib/secrets/table/rotation.ts",
    find: `fullName.startsWith(prefix) ? fullName.slice(prefix.length) : ""`,
    replace: "fullName.slice(prefix.length)",
    tests: rotatedKeys,
    only: "of another stage",
  },
  {
    breaks: "A rotated password is not fetched again when the server refuses the old one",
    file: "lib/db/database.ts",
    find: "  if (code === INVALID_PASSWORD) refused = credentials.reset();\n",
    replace: "",
    tests: outage,
    only: "rotated",
  },
  {
    breaks: "The upkeep and the task connect by the current password alone while one is rotated",
    file: "lib/db/role-secret.ts",
    find: "return (await logsIn(current)) ? current : coming;",
    replace: "return current;",
    tests: rotation,
    only: "messenger connects",
  },
  {
    breaks: "A caller waits longer than 3 s for a database that hangs",
    file: "lib/db/database.ts",
    find: "const deadlineMs = 2_600;",
    replace: "const deadlineMs = 26_000;",
    tests: outage,
    only: "hangs",
  },
  {
    breaks: "A migration that was edited after it ran is passed over",
    file: "lib/db/migrate.ts",
    find: `schemaTable: "migration.version",`,
    replace: `schemaTable: "migration.version",\n      validateChecksums: false,`,
    tests: ["test/db/migrate.test.ts"],
  },
  {
    breaks: "Two migrations run at once",
    file: "lib/db/migrate.ts",
    find: "select pg_advisory_xact_lock(",
    replace: "select pg_try_advisory_xact_lock(",
    tests: ["test/db/migrate.test.ts"],
    only: "two at once",
  },
  {
    breaks: "A deployment sets back the password of a rotation that is under way",
    file: "lib/db/role-login.ts",
    find: "coming.password !== current.password && (await logsIn(coming))) return false;",
    replace: "coming.password === current.password && (await logsIn(coming))) return false;",
    tests: migrate,
    only: "under way",
  },
  {
    breaks: "Tokens of the key before a rotation are rejected",
    file: "lib/secrets/secret.ts",
    find: "return previous === undefined ? [current] : [current, previous];",
    replace: "return previous === undefined ? [current] : [current];",
    tests: ["test/employee/token-key.test.ts"],
  },
  {
    breaks: "Two runs of the upkeep work at once",
    file: "lib/maintenance/maintain.ts",
    find: "return lock?.taken ? await",
    replace: "return lock ? await",
    tests: maintain,
    only: "under way",
  },
  {
    breaks: "A step of the upkeep that has no end takes the time of those behind it",
    file: "lib/maintenance/run.ts",
    find: "(until - Date.now()) / (steps.length - index)",
    replace: "until - Date.now()",
    tests: ["test/maintenance/run.test.ts"],
  },
  {
    breaks: "A step of the upkeep that fails is not reported as a failed run",
    file: "lib/maintenance/maintain.ts",
    find: "  if (failed.length > 0) throw",
    replace: "  if (failed.length === reports.length) throw",
    tests: maintain,
    only: "fails at its end",
  },
  {
    breaks: "An initialization that failed once fails for the rest of the environment's life",
    file: "lib/lazy.ts",
    find: "if (made === attempt) made = undefined;",
    replace: "if (made !== attempt) made = undefined;",
    tests: ["test/lib/lazy.test.ts"],
  },
  {
    breaks: "A text with an ampersand is put into a page unescaped",
    file: "lib/html.ts",
    find: `/[&<>"']/g`,
    replace: `/[<>"']/g`,
    tests: ["test/docs/page.test.ts"],
  },
];
