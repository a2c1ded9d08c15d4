import { expect, test } from "vitest";
import type { Command } from "../../infra/commands/command.ts";
import { callCommand } from "../steps/command.ts";

const commands: Readonly<Record<string, () => Promise<{ readonly run: Command }>>> = {
  audit: () => import("../../infra/commands/audit.ts"),
  import: () => import("../../infra/commands/import.ts"),
  residents: () => import("../../infra/commands/residents.ts"),
  seed: () => import("../../infra/commands/seed.ts"),
  sessions: () => import("../../infra/commands/sessions.ts"),
  operators: () => import("../../infra/commands/operators.ts"),
  "token-key": () => import("../../infra/commands/token-key.ts"),
};

/** A closed port: a wrong call is rejected before the database is used. */
const settings = { DATABASE_URL: "postgres://x:y@127.0.0.1:1/none" };

test.each([
  ["import residents /nowhere.csv", "File not found: /nowhere.csv"],
  ["import people x.csv", "Unknown table: people. Use residents"],
  ["import residents", "Expected one file"],
  ["import residents x.csv --fast", "Unknown option '--fast'"],
  ["seed --residents many", "must be a whole number, not many"],
  ["seed --residents 1.5", "must be a whole number, not 1.5"],
  ["residents repair", "Unknown command: repair. Use status, verify, rebuild."],
  ["residents verify now", "Unexpected argument: now"],
  ["audit show", "Unknown command: show. Use verify."],
  ["audit verify --stage test --log audit.log", "Give either --stage or --log"],
  ["audit verify --log none.log", "The file none.log cannot be read"],
  ["sessions end", "end needs a session or account ID"],
  ["sessions stop 3", "Unknown command: stop. Use list, end, unlock."],
  ["sessions unlock", "unlock needs the username or NIP"],
  ["sessions list a", "Unexpected argument: a"],
  ["sessions list a b", "Unexpected argument: a b"],
  ["operators add", "Give the name of the operator."],
  ["operators add sari --role boss", "--role must be viewer, operator, admin, not boss."],
  ["operators list all", "Unexpected argument: all"],
  ["token-key rotate now", "Unexpected argument: now"],
])("%s is rejected with a message that says what is wrong", async (line, message) => {
  const [name = "", ...args] = line.split(" ");
  const command = commands[name] ?? expect.fail(`no command ${name}`);
  expect(await callCommand(command, settings, ...args)).toMatchObject({
    status: 1,
    errors: expect.stringContaining(message),
  });
});
