import postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { listSteps } from "#lib/maintenance/maintain.ts";
import type { Report } from "#lib/maintenance/step.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";

const own = useOwnCity();
const admin = withCityDatabase(own);

const run = () => own.city.invoke("maintain", {});
// biome-ignore lint/suspicious/noExplicitAny: a log line
const reports = (): any[] => own.logged().filter(({ message }) => message === "maintenance");

beforeEach(() => {
  own.lines.length = 0;
});

const plantOldRows = () =>
  admin(async (sql) => {
    await sql`truncate employee.attempt, employee.session cascade`;
    await sql`
      insert into employee.attempt (account_digest, made_at)
      select '\\x01', now() - age * interval '1 hour' from unnest(array[1, 25]) age, generate_series(1, 6000)`;
    await sql`
      with started as (
        insert into employee.session (account_id, name_digest, scope, expires_at)
        select 'a', '\\x01', 's', now() - age * interval '1 hour' from unnest(array[1, 25]) age, generate_series(1, 150)
        returning id)
      insert into employee.refresh_token (digest, session_id) select sha256(id::text::bytea), id from started`;
  });

const counts = () =>
  admin(async (sql) => {
    const [row] = await sql`
      select (select count(*)::int from employee.attempt) as attempts,
        (select count(*)::int from employee.session) as sessions,
        (select count(*)::int from employee.refresh_token) as tokens`;
    return row;
  });

test("deletes rows older than a day in several batches, and reports it in one line", async () => {
  await plantOldRows();
  expect(await run()).toEqual({ payload: "null" });
  expect(await counts()).toEqual({ attempts: 6000, sessions: 150, tokens: 150 });
  const [line, ...more] = reports();
  expect(more).toEqual([]);
  expect(line.steps).toEqual(
    expect.arrayContaining([
      { step: "retention of employee.attempt", rows: 6000, milliseconds: expect.any(Number), finished: true },
      { step: "retention of employee.session", rows: 150, milliseconds: expect.any(Number), finished: true },
    ]),
  );
  expect(line.steps.map(({ step }: Report) => step)).toEqual(
    (await admin(listSteps)).map(({ name }) => name),
  );
});

test("fails at its end when one step fails, names it, and runs the others", async () => {
  await plantOldRows();
  const as = (verb: string) =>
    admin((sql) =>
      sql.unsafe(`set role municipal_owner; ${verb} municipal_maintenance; reset role`).simple(),
    );
  await as("revoke execute on function audit.extend_partitions from");
  expect(await run()).toMatchObject({ errorMessage: "maintenance failed at audit-partitions" });
  await as("grant execute on function audit.extend_partitions to");
  expect(await counts()).toEqual({ attempts: 6000, sessions: 150, tokens: 150 });
  const [line] = reports();
  expect(line.level).toBe("error");
  const { finished, error } = line.steps.find(({ step }: Report) => step === "audit-partitions");
  expect([finished, error.code]).toEqual([false, "42501"]);
});

test("does nothing while another run is under way", async () => {
  await plantOldRows();
  await admin(async (sql) => {
    await sql`select pg_advisory_lock(7206305)`;
    expect(await run()).toEqual({ payload: "null" });
  });
  expect(await counts()).toMatchObject({ attempts: 12_000 });
  expect(own.logged()).toMatchObject([{ level: "info", message: "maintenance is already in progress" }]);
  await run();
  expect(await counts()).toMatchObject({ attempts: 6000 });
});

test("works while all tables are published, as for a blue/green deployment", async () => {
  await plantOldRows();
  const superuser = own.city.secrets.find("municipal/local/database/superuser")?.value;
  const { host, pathname } = new URL(own.city.database.adminUrl);
  const sql = postgres(`postgres://postgres:${superuser}@${host}${pathname}`, { max: 1, onnotice: () => {} });
  try {
    await sql`create publication everything for all tables`;
    await insertSeries(sql, 1, 10);
    expect(await run()).toEqual({ payload: "null" });
    const [line] = reports();
    const applied = line.steps.find(({ step }: Report) => step === "resident-changes");
    expect(applied.rows).toBeGreaterThanOrEqual(10);
  } finally {
    await sql`drop publication if exists everything`;
    await sql.end();
  }
});

test("uses a password that was rotated between two runs", async () => {
  await own.city.database.rotatePassword("maintenance");
  expect(await run()).toEqual({ payload: "null" });
});

test("a seal whose anchor S3 rejects fails the run after all steps, and the next run stores it", async () => {
  const { bucket } = own.city;
  await admin(
    (sql) =>
      sql`select (resident.list(1, 1, 'p', 'k', 'request ' || n)).total from generate_series(1, 1000) n`,
  );
  bucket.behave("SlowDown");
  expect(await run()).toMatchObject({ errorMessage: "maintenance failed at audit-anchors" });
  expect(reports()[0].steps).toHaveLength((await admin(listSteps)).length);
  const stored = bucket.versions.length;
  bucket.behave("well");
  expect(await run()).toEqual({ payload: "null" });
  expect(bucket.versions.length).toBe(stored + 1);
});
