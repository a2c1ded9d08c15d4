import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import { Credentials } from "#lib/db/credentials.ts";
import { loginRoles } from "#lib/db/roles.ts";
import { bundleFolder } from "../../infra/build/build.ts";
import { startLambda } from "../../infra/local/lambda/lambda.ts";
import { localSecretName } from "../../infra/local/secrets/store.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { startCommand } from "../steps/command.ts";
import { canLogIn } from "../steps/connections.ts";

const own = useOwnCity();
const withAdmin = withCityDatabase(own);
const roles = Object.entries(loginRoles);
const inventPassword = () => randomBytes(20).toString("hex");

/** A stage's empty database on the city's server, with the secrets that a template makes for it. */
const prepareStage = async () => {
  const name = `stage_${randomBytes(6).toString("hex")}`;
  const prefix = `municipal/${name.replace("_", "-")}/`;
  await withAdmin((sql) => sql.unsafe(`create database ${name}`));
  const url = new URL(own.city.database.adminUrl);
  const { secrets } = own.city;
  const admin = { username: url.username, password: url.password };
  secrets.put(`${prefix}database/admin`, JSON.stringify(admin));
  const address = { host: url.hostname, port: Number(url.port), dbname: name };
  for (const [role, username] of roles)
    secrets.put(
      `${prefix}database/${role}`,
      JSON.stringify({ ...address, username, password: inventPassword() }),
    );
  const read = (role: string): Credentials =>
    Credentials.parse(JSON.parse(secrets.find(`${prefix}database/${role}`)?.value ?? "{}"));
  const variables = {
    ...own.city.variables({ secrets: {} }),
    DATABASE_SECRET_ID: `${prefix}database/admin`,
    DATABASE_HOST: address.host,
    DATABASE_PORT: String(address.port),
    DATABASE_NAME: name,
    SECRETS_PREFIX: prefix,
  };
  const connect = () => {
    const sql = postgres({ ...admin, ...address, database: name, max: 1, onnotice: () => {} });
    onTestFinished(() => sql.end());
    return sql;
  };
  return { prefix, read, variables, connect };
};

/** Runs the function of the bundle that is deployed. @throws Error with what it failed by. */
const migrate = async (
  { variables }: { variables: Readonly<Record<string, string>> },
  folder = bundleFolder("migrate"),
  timeoutSeconds = 60,
) => {
  const lines: string[] = [];
  const lambda = startLambda({
    ...{ name: "migrate", folder, variables, timeoutSeconds },
    onLine: (line) => lines.push(line),
  });
  const outcome = await lambda.invoke({}, "deployment").finally(() => lambda.stop());
  if ("errorMessage" in outcome) throw new Error(outcome.errorMessage);
  return lines.map((line) => JSON.parse(line));
};

/** Makes the server log the statements that fail in a stage's database. Only a superuser may. */
const logStatements = async ({ variables }: { variables: { readonly DATABASE_NAME: string } }) => {
  const url = new URL(own.city.database.adminUrl);
  const password = own.city.secrets.find(localSecretName("database/superuser"))?.value ?? "";
  const sql = postgres({
    host: url.hostname,
    port: Number(url.port),
    username: "postgres",
    password,
    max: 1,
  });
  const setting = `alter database ${variables.DATABASE_NAME} set log_min_error_statement = 'error'`;
  await sql.unsafe(setting).finally(() => sql.end());
};

/** Another deployment's bundle: the same function with one migration more. */
const withMigration = (sql: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(bundleFolder("migrate"), folder, { recursive: true });
  writeFileSync(`${folder}/tables/9999.do.later.sql`, sql);
  return folder;
};

const newRoles = (lines: readonly { role?: string; isNew?: boolean }[]) =>
  lines.filter(({ isNew }) => isNew).map(({ role }) => role);

test("an administrator who is not a superuser creates the schema, and every role can log in with its secret", async () => {
  const stage = await prepareStage();
  const [, admin] = await Promise.all([
    migrate(stage),
    stage.connect()`select rolsuper from pg_roles where rolname = current_user`,
  ]);
  expect(admin[0]?.rolsuper).toBe(false);
  for (const [role] of roles) expect([role, await canLogIn(stage.read(role))]).toEqual([role, true]);
});

test("a second deployment changes no password", async () => {
  const stage = await prepareStage();
  expect(newRoles(await migrate(stage))).toEqual(roles.map(([, role]) => role));
  expect(newRoles(await migrate(stage))).toEqual([]);
});

test("each role gets its share of the connections, and loses it with the setting", async () => {
  const stage = await prepareStage();
  const limits = async () => {
    const rows = await stage.connect()<{ rolname: string; rolconnlimit: number }[]>`
      select rolname, rolconnlimit from pg_roles where rolconnlimit >= 0`;
    return rows.map(({ rolname, rolconnlimit }) => [rolname, rolconnlimit]);
  };
  const variables = { ...stage.variables, CONNECTION_LIMITS: JSON.stringify({ tourism: 7 }) };
  await migrate({ variables });
  expect(await limits()).toEqual([["municipal_tourism", 7]]);
  await migrate(stage);
  expect(await limits()).toEqual([]);
});

test("a lost password is set again from its secret", async () => {
  const stage = await prepareStage();
  await migrate(stage);
  await stage.connect().unsafe("alter role municipal_tourism password 'forgotten'");
  expect(newRoles(await migrate(stage))).toEqual(["municipal_tourism"]);
  expect(await canLogIn(stage.read("tourism"))).toBe(true);
});

test("a rotation in progress keeps the pending password", async () => {
  const stage = await prepareStage();
  await migrate(stage);
  const coming = { ...stage.read("tourism"), password: inventPassword() };
  own.city.secrets.put(`${stage.prefix}database/tourism`, JSON.stringify(coming), { stages: ["AWSPENDING"] });
  await stage.connect().unsafe(`alter role municipal_tourism password '${coming.password}'`);
  expect(newRoles(await migrate(stage))).toEqual([]);
  expect(await canLogIn(coming)).toBe(true);
});

test("a database that was restored from a backup sends nothing until an operator resumes, once for each backup", async () => {
  const stage = await prepareStage();
  await migrate(stage);
  const sql = stage.connect();
  const logged: { backup: string; last_seal: string }[] = [];
  const restore = async (backup: string) => {
    const lines = await migrate({ variables: { ...stage.variables, DATABASE_RESTORED_FROM: backup } });
    logged.push(...lines.filter(({ last_seal }) => last_seal !== undefined));
    return (await sql`select paused, paused_at is not null as dated from messaging.control`)[0];
  };
  await sql`
    insert into messaging.auth_key (account, type, id, value)
    values (1, 'session', '1', ''), (1, 'creds', 'creds', '')`;
  expect(await restore("the first backup")).toEqual({ paused: true, dated: true });
  expect(await sql`select type from messaging.auth_key`).toEqual([{ type: "creds" }]);
  await sql`update messaging.control set paused = false`;
  expect(await restore("the first backup")).toMatchObject({ paused: false });
  expect(await restore("the second backup")).toMatchObject({ paused: true });
  expect(logged.map(({ backup, last_seal }) => [backup, last_seal])).toEqual([
    ["the first backup", "0"],
    ["the second backup", "0"],
  ]);
});

describe("the deployment fails", () => {
  test("when a migration fails, which leaves nothing behind", async () => {
    const stage = await prepareStage();
    await migrate(stage);
    const folder = withMigration("create table public.half (x int); select 1 / 0;");
    await expect(migrate(stage, folder)).rejects.toThrow("division by zero");
    expect(await stage.connect()`select from pg_tables where tablename = 'half'`).toHaveLength(0);
  });

  test("when a migration takes longer than the function may, and the error tells the command that finishes it", async () => {
    const stage = await prepareStage();
    await migrate(stage);
    const error = await migrate(stage, withMigration("select pg_sleep(60);"), 31).catch(
      ({ message }) => message,
    );
    expect(error).toMatch(/^9999.do.later.sql has not ended in time: run it without a time limit/);
    const [, printed = "", named = ""] =
      /then: ((?:\w+=\S+ )+)npm run city -- migrate --stage (\S+) --via 127\.0\.0\.1:5433\./.exec(error) ??
      [];
    const settings = [...printed.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
    const given = Object.fromEntries(
      Object.entries(stage.variables).filter(([name]) => !/^DATABASE_[^T]/.test(name)),
    );
    const byHand = { ...given, ...Object.fromEntries(settings) };
    const forwarded = ["--stage", named, "--via", `127.0.0.1:${stage.variables.DATABASE_PORT}`];
    expect(await startCommand("migrate", byHand, ...forwarded).ended).toMatchObject({
      status: 0,
      out: "The schema is up to date.\n",
    });
  });

  test("when the database is empty although the stage has been deployed, which creates no schema", async () => {
    const stage = await prepareStage();
    await migrate(stage);
    const other = await prepareStage();
    const variables = { ...stage.variables, DATABASE_NAME: other.variables.DATABASE_NAME };
    await expect(migrate({ variables })).rejects.toThrow(
      /^the database is empty, but this stage has had data since 20\d\d-.*: see \/docs\/runbook#the-database-is-empty$/,
    );
    expect(await other.connect()`select from pg_namespace where nspname = 'migration'`).toHaveLength(0);
  });

  test("when the server would log rows, which creates no schema", async () => {
    const stage = await prepareStage();
    await logStatements(stage);
    await expect(migrate(stage)).rejects.toThrow("Set there: log_min_error_statement = panic");
    expect(await stage.connect()`select from pg_namespace where nspname = 'migration'`).toHaveLength(0);
  });

  test("when the database is empty although it was restored from a backup, which creates no schema", async () => {
    const stage = await prepareStage();
    const variables = { ...stage.variables, DATABASE_RESTORED_FROM: "a-snapshot" };
    await expect(migrate({ variables })).rejects.toThrow(
      /^the database is empty, but was restored from a-snapshot: see \/docs\/runbook#the-database-is-empty$/,
    );
    expect(await stage.connect()`select from pg_namespace where nspname = 'migration'`).toHaveLength(0);
  });

  test("when the database is not reachable", async () => {
    const stage = await prepareStage();
    const variables = { ...stage.variables, DATABASE_PORT: "1" };
    await expect(migrate({ variables })).rejects.toThrow("ECONNREFUSED");
  });

  test("when a secret belongs to another role, which is named", async () => {
    const stage = await prepareStage();
    const id = `${stage.prefix}database/tourism`;
    own.city.secrets.put(id, JSON.stringify(stage.read("resident")));
    await expect(migrate(stage)).rejects.toThrow(
      `secret ${id} belongs to another role than municipal_tourism`,
    );
  });
});

test("the server ends a file whose function had no time left, so that the next deployment does not wait for it", async () => {
  const stage = await prepareStage();
  await migrate(stage);
  const sql = stage.connect();
  await expect(migrate(stage, withMigration("select pg_sleep(600);"), 31)).rejects.toThrow("in time");
  await expect
    .poll(
      () => sql`
      select from pg_stat_activity where query like '%pg_sleep(600)%' and pid <> pg_backend_pid()`,
    )
    .toEqual([]);
});

test("the command that migrates by hand prepares an empty database as a deployment does", async () => {
  const stage = await prepareStage();
  const { status, out } = await startCommand("migrate", stage.variables, "--json").ended;
  expect(status).toBe(0);
  expect(JSON.parse(out).ran).toEqual(expect.arrayContaining(["0001.do.roles.sql", "employee/session"]));
  const lines = await migrate(stage);
  expect(lines.find(({ ran }) => ran)).toMatchObject({ ran: [] });
});

test("a rolled back deployment keeps the newer schema", async () => {
  const stage = await prepareStage();
  await migrate(stage, withMigration("create table public.later (x int);"));
  await migrate(stage);
  expect(await stage.connect()`select from pg_tables where tablename = 'later'`).toHaveLength(1);
});
