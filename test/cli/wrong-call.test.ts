import { describe, expect, test } from "vitest";
import { nouns } from "../../infra/cli/city.ts";
import { command } from "../../infra/cli/command.ts";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";

/** A closed port: a wrong call is rejected before the database is used. */
const settings = { DATABASE_URL: "postgres://x:y@127.0.0.1:1/none" };

const call = (line: string, env: Record<string, string> = settings) => {
  return callCommand(() => import("../../infra/cli/city.ts"), env, ...line.split(" "));
};

test.each([
  ["import residents /nowhere.csv", "File not found: /nowhere.csv"],
  ["import people x.csv", "Unknown table: people. Use residents"],
  ["import residents", "Missing required argument 'file'. See: npm run city -- import --help"],
  [
    "import residents x.csv --jso",
    "Unknown option '--jso'. Did you mean --json? See: npm run city -- import --help",
  ],
  [
    "callback add tax-office https://u:p@x.example",
    "without credentials, such as https://backend.city.example",
  ],
  ["callback add tax-office https://x.example:8443/", "on port 443"],
  ["callback rotate tax-office ftp://x.example/", "URL must be an https address"],
  ["callback list tax-office", "Add --stage NAME: this needs the secret messenger-key"],
  ["seed", "Required option '--residents <number>' not specified"],
  ["seed --residents many", "must be a whole number from 0 to 999999999, not many"],
  ["seed --residents 1.5", "must be a whole number from 0 to 999999999, not 1.5"],
  ["residents", "A command is missing. See: npm run city -- residents --help"],
  ["residents verfy", "Unknown command 'verfy'. Did you mean verify? See: npm run city -- residents --help"],
  ["residents verify now", "Too many arguments for 'verify'. Expected 0 arguments but got 1"],
  ["audit verify --stage test --bucket b", "Give either --stage or --bucket"],
  ["audit verify --restored 3", "--restored is about the anchors of the seals. Add --stage or --bucket"],
  ["notify report requests --at 2030-01-31T08:00+07:00", "--at is for a job"],
  ["dead-letters list", "Add --stage NAME, such as --stage prod"],
  ["partner list --stage Prod/1", "--stage must be the name of a deployed stage, such as prod"],
  ["partner list --via 127.0.0.1:5433", "--via is where the database of --stage is reached from here"],
  ["partner list --stage prod --via 127.0.0.1:99999", "--via is where the database of --stage is reached"],
  ["partner list --stage prod --via 127.0.0.1:5433", "--via has no effect while DATABASE_URL is set"],
  ["--stage prod partner list", "Options follow the noun and the verb: npm run city -- NOUN VERB --stage"],
  ["dead-letters drop --stage prod", "Missing required argument 'id'"],
  ["partner list --overlap 3", "Unknown option '--overlap'"],
  ["account add", "Missing required argument 'account'"],
  ["account add Health", "ACCOUNT must be 1 to 40 lower-case letters, digits and dashes, such as health-1"],
  ["account change main", "Give at least one of --department, --pool and --state"],
  ["account change main --state gone", "Unknown state: gone. Use active, spare, retired."],
  ["sender add", "Missing required argument 'sender'"],
  ["sender add Tax", "SENDER must be 1 to 40 lower-case letters, digits and dashes, such as tax-office"],
  ["sender limit a:b --per-day 1", "SENDER must be a username without colons"],
  ["sender limit tax", "Give at least one of --classes, --countries, --per-day, --bytes-per-day and --pool"],
  [
    "sender limit tax --classes news",
    "Unknown class: news. Use one-time-code, transactional, reminder, bulk",
  ],
  ["sender limit tax --countries +81", "--countries must be country codes without +"],
  ["sender limit tax --per-day many", "--per-day must be a whole number"],
  ["sender rotate tax --overlap -1", "overlap"],
  ["sessions end", "Missing required argument 'who'"],
  ["sessions lst", "Unknown command 'lst'. Did you mean list?"],
  ["sessions unlock", "Missing required argument 'name'"],
  ["operators add --role viewer", "Missing required argument 'name'"],
  ["operators add sari", "Required option '--role <role>' not specified"],
  ["operators add sari --role boss", "Allowed choices are viewer, operator, admin"],
  ["operators list all", "Too many arguments for 'list'"],
  ["subject report 123 --by rina", "NIK must have exactly 16 digits"],
  ["subject report 9971010101010001", "Required option '--by <operator>' not specified"],
  ["subject report 9971010101010001 --by rina --phone 0811", "--phone must be a number with country code"],
  ["subject restrict 9971010101010001 --by rina", "Required option '--reason <text>' not specified"],
  ["subject correct 9971010101010001 --by rina --reason x", "Give at least one value to correct"],
  [
    "subject restrict 9971010101010001 --by rina --reason 9971010101010001",
    "--reason must be 1 to 100 letters, digits and signs of ASCII",
  ],
  ["token-key rotate now", "Too many arguments for 'rotate'"],
])("%s is rejected with a message that says what is wrong, and exit code 2", async (line, message) => {
  expect(await call(line)).toMatchObject({ status: 2, errors: expect.stringContaining(message) });
});

test("the nouns are listed without one, and for one that does not exist", async () => {
  const listed = Object.keys(nouns).join("[^]*");
  for (const line of ["--help", "help"])
    expect(await call(line)).toMatchObject({ status: 0, out: expect.stringMatching(listed) });
  for (const line of ["partners list", "constructor"])
    expect(await call(line)).toMatchObject({ status: 2, errors: expect.stringMatching(listed) });
});

test.each(["account", "migrate"])("the lines of the help of %s are not broken", async (name) => {
  const { out } = await call(`${name} --help`);
  const about = out.split("\n\nOptions:")[0] ?? "";
  // a broken line continues in one of few words
  expect(about.split("\n").filter((line) => /^\S+( \S+)?$/.test(line))).toEqual([]);
});

test("a failure is exit code 1", async () => {
  expect(await call("partner list")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("The database cannot be reached (ECONNREFUSED)"),
  });
});

test.each([
  "account list --stage prod",
  "sender list --stage prod",
  "partner list --stage prod",
  "partner add health --stage prod",
  "audit verify --stage prod",
])("%s does not use the local database in place of the stage's", async (line) => {
  expect(await call(line, {})).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/AWS_REGION/),
  });
});

test.each(Object.keys(nouns))(
  "%s --help says how to use it and offers JSON, --version says which version it is",
  async (name) => {
    expect(await call(`${name} --help`)).toMatchObject({
      status: 0,
      out: expect.stringMatching(
        new RegExp(`^Usage: npm run city -- ${name} .*--json.*Exit code: 0 done`, "s"),
      ),
    });
    expect(await call(`${name} --version`)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  },
);

test.each([
  ["residents verfy", "Did you mean verify?"],
  ["residents", "A command is missing"],
  ["partners list", "Unknown noun 'partners'"],
])("with --json the failure of %s is JSON, too", async (line, message) => {
  const { out, errors } = await call(`${line} --json`);
  expect([out, JSON.parse(errors)]).toEqual(["", { error: expect.stringContaining(message) }]);
});

describe("a failure of the database that nobody foresaw", () => {
  /** Runs a statement as a command would. */
  const query = (statement: string, ...args: string[]) => {
    const run = command("test", "", (program, answer) =>
      program.action(
        answer(async () => {
          await connectFor("adminUrl").unsafe(statement);
          return { text: "", json: {} };
        }),
      ),
    );
    return callCommand(async () => ({ run }), {}, ...args);
  };

  test.each([
    ["select '9971012345670004x'::bigint", "PostgresError 22P02"],
    [
      "create temp table t (nik text primary key); insert into t select '9971012345670004' from generate_series(1, 2)",
      "PostgresError 23505",
    ],
  ])("is printed without the data that it quotes: %s", async (statement, name) => {
    for (const args of [[], ["--json"]]) {
      const { status, errors } = await query(statement, ...args);
      expect([status, errors]).toEqual([1, expect.stringContaining(name)]);
      expect(errors).not.toContain("9971012345670004");
    }
  });
});
