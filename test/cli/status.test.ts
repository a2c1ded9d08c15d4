import { json } from "node:stream/consumers";
import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import { callCommand } from "../steps/command.ts";
import { serve } from "../steps/http-server.ts";
import { createDatabase, type TemporaryDatabase } from "../steps/temporary-database.ts";

let database: TemporaryDatabase;
let sql: postgres.Sql;

beforeEach(async () => {
  database = await createDatabase();
  sql = database.connect("adminUrl");
  await sql`update messaging.account set number = '6281200000001'`;
  // as its leader has it
  await lead();
});

const { accountLeader } = advisoryLocks;
const lead = () => sql`select pg_advisory_lock(${accountLeader}, id) from messaging.account`;

const run = (settings: Record<string, string> = {}, ...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/status.ts"),
    { DATABASE_URL: database.urlFor("consoleUrl"), ...settings },
    ...args,
  );

test("a city whose messages go out needs nobody", async () => {
  const { status, out } = await run();
  expect(status).toBe(0);
  expect(out).toContain("Everything is working; nothing to do.\n");
  expect(out).toMatch(/^main +whatsapp +active +\S*•\S* +up +0$/m);
});

test("an account that no messenger leads sends nothing, whatever its messenger has stored", async () => {
  await sql`insert into messaging.account (name, number) values ('other', '6281200000002')`;
  const one = await run();
  expect(one.status).toBe(1);
  expect(one.out).toContain(
    "- No messenger sends for the account other.\n  What citizens notice: Messages of this",
  );
  await sql`select pg_advisory_unlock(${accountLeader}, id) from messaging.account where name = 'main'`;
  const { status, out } = await run();
  expect(status).toBe(1);
  expect(out).toMatch(/^1 problem needs attention\./);
  expect(out).toContain(
    "- No messenger is running.\n  What citizens notice: No messages arrive, and apps cannot submit any.",
  );
  expect(out).toMatch(/^main +whatsapp +active +\S*•\S* +no messenger +0$/m);
});

test("an account that has just lost its connection is said to reconnect, and a limit of its number is a problem", async () => {
  await sql`update messaging.account set down_since = now()`;
  const lost = await run();
  expect(lost.status).toBe(0);
  expect(lost.out).toContain("Nothing is sent at the moment. Reconnecting for less than a minute: main.");
  await sql`update messaging.account set down_since = null`;
  await sql`insert into messaging.number (phone, paused_until) values ('6281200000001', now() + interval '1 hour')`;
  const limited = await run();
  expect(limited.status).toBe(1);
  expect(limited.out).toContain("- main: WhatsApp accepts no messages to new contacts until");
});

test("a login that the platform rejects is said with its code, and leads to its section", async () => {
  await sql`update messaging.account set hold_code = 403`;
  const { status, out } = await run();
  expect(status).toBe(1);
  expect(out).toContain("its platform rejects the login, code 403.");
  expect(out).toContain("/docs/runbook#login-rejected");
});

test("what the console's alerts say is said with what to do and exit code 1, numbers masked", async () => {
  await sql`update messaging.account set down_since = now() - interval '5 minutes'`;
  await sql`update messaging.control set paused = true, paused_at = '2026-11-26T10:00:00Z'`;
  const { status, out } = await run();
  expect(status).toBe(1);
  expect(out).toMatch(/^2 problems need attention\./);
  expect(out).toContain("- The account main is not connected to its platform: it sends nothing.");
  expect(out).toContain(
    "- Sending is paused: messages stay queued until they expire. Since 2026-11-26 17:00 WIB.",
  );
  expect(out).not.toContain("6281200000001");
  const { out: json } = await run({}, "--json");
  expect(JSON.parse(json)).toMatchObject({ paused: true, problems: [{}, {}], accounts: [{ name: "main" }] });
});

/** @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html */
const startAlarms = async (names: readonly string[]) => {
  const asked: unknown[] = [];
  const url = await serve(async (request, response) => {
    const query = (await json(request)) as { NextToken?: string };
    asked.push(query);
    const at = names.indexOf(query.NextToken ?? names[0] ?? "");
    const alarm = { AlarmName: names[at], AlarmDescription: "Read the runbook.", StateUpdatedTimestamp: 0 };
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ MetricAlarms: [alarm], NextToken: names[at + 1] }));
  });
  return { url, asked };
};

test("of a stage, the alarms that ring now are said, too, from all pages", async () => {
  const { url, asked } = await startAlarms(["municipal-prod-errors", "municipal-prod-queue"]);
  const settings = {
    ...{ AWS_REGION: "local", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" },
    AWS_ENDPOINT_URL_CLOUDWATCH: url,
  };
  const { status, out } = await run(settings, "--stage", "prod");
  expect(status).toBe(1);
  expect(out).toContain("- Alarm municipal-prod-errors Since 1970-01-01 07:00 WIB.\n  Read the runbook.");
  expect(out).toContain("- Alarm municipal-prod-queue");
  expect(asked).toMatchObject([{ AlarmNamePrefix: "municipal-prod-", StateValue: "ALARM" }, {}]);
});
