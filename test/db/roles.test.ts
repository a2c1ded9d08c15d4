import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { expect, inject, onTestFinished, test } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import { loginRoles } from "#lib/db/roles.ts";
import { connectFor } from "../steps/connections.ts";

/** What is set for a role when it logs in to this database. */
const settingsOf = async (role: string): Promise<Record<string, string>> => {
  const rows = await connectFor("adminUrl")<{ setting: string }[]>`
    select unnest(s.setconfig) as setting from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
    where r.rolname = ${role}
      and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))`;
  return Object.fromEntries(rows.map(({ setting }) => setting.split("=") as [string, string]));
};

const administrator = "municipal_admin";

test.each([...Object.values(loginRoles), administrator])(
  "%s has timeouts for statements and idle transactions",
  async (role) =>
    expect(await settingsOf(role)).toMatchObject({
      statement_timeout: expect.stringMatching(/^[1-9]\d*(s|min)$/),
      idle_in_transaction_session_timeout: expect.stringMatching(/^[1-9]\d*(s|min)$/),
    }),
);

test("only the roles of functions have an idle session timeout: the messenger's leader holds its lock on an idle connection", async () => {
  const ended: string[] = [];
  for (const role of Object.values(loginRoles))
    if ("idle_session_timeout" in (await settingsOf(role))) ended.push(role);
  const { resident, tourism, gatekeeper, employee, maintenance } = loginRoles;
  const functions = [
    ...[resident, tourism, gatekeeper, employee, loginRoles["employee-ticket"]],
    ...[loginRoles["citizen-portal"], maintenance],
  ];
  expect(ended.toSorted()).toEqual(functions.toSorted());
});

test("another administrator gets an error with the missing grant, and can create the schema after it", async () => {
  const first = connectFor("adminUrl");
  const name = `second_${randomBytes(5).toString("hex")}`;
  const password = randomBytes(12).toString("hex");
  await first.unsafe(`create role ${name} login createrole createdb password '${password}'`);
  onTestFinished(() => first.unsafe(`drop role ${name}`).then(() => {}));
  const connect = (database: string) => {
    const { host } = new URL(inject("city").adminUrl);
    return postgres(`postgres://${name}:${password}@${host}/${database}`, { max: 1, onnotice: () => {} });
  };
  const server = connect("postgres");
  await server.unsafe(`create database ${name}`);
  const second = connect(name);
  try {
    const refusal = await migrate(second).catch(({ message }: Error) => message);
    expect(refusal).toContain("municipal_owner");
    const [grant = ""] = /GRANT .* WITH ADMIN OPTION/.exec(String(refusal)) ?? [];
    await first.unsafe(grant);
    expect(await migrate(second)).not.toEqual([]);
  } finally {
    await second.end();
    await server.unsafe(`drop database ${name} with (force)`);
    await server.end();
  }
});
