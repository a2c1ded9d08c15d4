import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Credentials } from "#lib/db/credentials.ts";
import { setPassword } from "#lib/db/password.ts";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { messengerSecrets } from "#lib/routes/internal.ts";
import { rotationSteps as steps } from "#lib/secrets/table/rotation.ts";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { canLogIn } from "../../steps/connections.ts";
import { beginRotation, type Step } from "./rotation.ts";

const own = useOwnCity();
const withAdmin = withCityDatabase(own);

const begin = (role: LoginRole) => beginRotation(own, `database/${role}`);
const held = (role: LoginRole, stage = "AWSCURRENT") => {
  const version = own.city.secrets.find(`municipal/local/database/${role}`, { stage });
  return version && Credentials.parse(JSON.parse(version.value));
};
const getHeld = (role: LoginRole, stage?: string): Credentials => {
  const credentials = held(role, stage);
  if (!credentials) throw new Error(`no ${stage} of ${role}`);
  return credentials;
};

/** Makes each function reconnect for its next request. */
const endConnections = (role: LoginRole) =>
  withAdmin(async (sql) => {
    await sql.unsafe(`grant ${loginRoles[role]} to current_user`);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${loginRoles[role]}`;
  });

const readers = ["resident", "tourism", "gatekeeper"] as const;
const ask = async () => {
  const answers = await Promise.all([
    own.ask("/v1/penduduk", {}),
    own.ask("/v1/penduduk/search", { p_nama: "a" }),
    own.ask("/v1/pariwisata/kategori"),
  ]);
  return answers.map(({ status }) => status);
};
const whole = [200, 200, 200];

test("a role's new password works, the previous one does not, and nothing else changes", async () => {
  const before = getHeld("importer");
  await begin("importer").upTo("finishSecret");
  const after = getHeld("importer");
  expect(after).toEqual({ ...before, password: after.password });
  expect(after.password).not.toBe(before.password);
  expect(held("importer", "AWSPREVIOUS")).toEqual(before);
  expect([await canLogIn(after), await canLogIn(before)]).toEqual([true, false]);
});

test("requests between any two steps succeed, with kept and with closed connections", async () => {
  expect(await ask()).toEqual(whole);
  const rotations = readers.map(begin);
  for (const step of steps) {
    for (const rotation of rotations) await rotation.do(step);
    expect([step, await ask()]).toEqual([step, whole]);
    for (const role of readers) await endConnections(role);
    expect([step, await ask()]).toEqual([step, whole]);
  }
});

test("requests during the steps succeed, although each has to reconnect", async () => {
  const rotation = begin("tourism");
  let rotated = false;
  const done = rotation.conduct().finally(() => {
    rotated = true;
  });
  const seen: number[] = [];
  while (!rotated) {
    await endConnections("tourism");
    seen.push((await own.ask("/v1/pariwisata/kategori")).status);
  }
  await done;
  expect(new Set(seen)).toEqual(new Set([200]));
});

test.each([
  ["messenger", "own"],
  ["console", "console"],
] as const)("the messenger reconnects as the role %s between any two steps", async (role, login) => {
  const settings = own.city.variables({ secrets: messengerSecrets });
  for (const [variable, value] of Object.entries(settings)) vi.stubEnv(variable, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { connect } = await import("#lib/db/pool.ts");
  const rotation = begin(role);
  for (const step of steps) {
    await rotation.do(step);
    const sql = await connect(1, undefined, undefined, login);
    expect(await sql`select current_user as name`.finally(() => sql.end())).toEqual([
      { name: loginRoles[role] },
    ]);
  }
});

describe.each(steps)("a rotation that breaks off after %s", (last) => {
  test("leaves a working login, and completes when it is retried", async () => {
    const rotation = begin("tourism");
    await rotation.upTo(last);
    await endConnections("tourism");
    expect((await own.ask("/v1/pariwisata/kategori")).status).toBe(200);
    await rotation.upTo("finishSecret");
    await endConnections("tourism");
    expect((await own.ask("/v1/pariwisata/kategori")).status).toBe(200);
    expect(await canLogIn(getHeld("tourism"))).toBe(true);
  });
});

test.each<Step>(["setSecret", "testSecret"])(
  "%s fails while the database is unavailable, and changes nothing",
  async (step) => {
    const rotation = begin("tourism");
    await rotation.upTo(steps[steps.indexOf(step) - 1] ?? "createSecret");
    await own.city.database.server.stop();
    await expect(rotation.do(step)).rejects.toThrow();
    await own.city.database.server.start();
    expect((await own.ask("/v1/pariwisata/kategori")).status).toBe(200);
    await rotation.upTo("finishSecret");
    expect(await canLogIn(getHeld("tourism"))).toBe(true);
  },
);

test("testSecret fails when the database does not have the pending password", async () => {
  const rotation = begin("tourism");
  await rotation.do("createSecret");
  await expect(rotation.do("testSecret")).rejects.toThrow("rejects the new password");
  await rotation.upTo("finishSecret");
});

test("setSecret logs in with the version before, if only that one still works", async () => {
  await begin("notify").upTo("finishSecret");
  const before = getHeld("notify", "AWSPREVIOUS");
  await withAdmin((sql) => setPassword(sql, before.username, before.password));
  expect(await canLogIn(getHeld("notify"))).toBe(false);
  await begin("notify").upTo("finishSecret");
  expect(await canLogIn(getHeld("notify"))).toBe(true);
});

test("setSecret says who can help when the database accepts none of the secret's passwords", async () => {
  const rotation = begin("employee-admin");
  await rotation.do("createSecret");
  await withAdmin((sql) => sql.unsafe("alter role municipal_employee_admin password 'somebody-elses'"));
  await expect(rotation.do("setSecret")).rejects.toThrow("the migration sets a new one");
});

test("an administrator sets their own password, and other fields that RDS keeps in the secret stay", async () => {
  const { password, ...address } = getHeld("tourism");
  const username = `administrator_${randomBytes(8).toString("hex").replace(/\d/g, "x")}`;
  await withAdmin(async (sql) => {
    await sql.unsafe(`create role ${username} login createrole createdb password '${password}'`);
    await sql.unsafe(`grant connect on database municipal to ${username}`);
  });
  const before = { ...address, username, password, engine: "postgres" };
  const id = "municipal/local/database/admin";
  own.city.secrets.put(id, JSON.stringify(before));
  await beginRotation(own, "database/admin").upTo("finishSecret");
  const after = JSON.parse(own.city.secrets.find(id)?.value ?? "");
  expect(after).toEqual({ ...before, password: after.password });
  expect([await canLogIn(after), await canLogIn(before)]).toEqual([true, false]);
});

test("no log or error contains a password", () => {
  const secrets = ["tourism", "importer", "resident"].flatMap((role) =>
    (own.city.secrets.list(`municipal/local/database/${role}`) ?? []).map(
      ({ value }) => JSON.parse(value).password as string,
    ),
  );
  expect(secrets.length).toBeGreaterThan(3);
  const lines = own.lines.join("\n");
  expect(lines).toContain("rotation step done");
  expect(secrets.filter((password) => lines.includes(password))).toEqual([]);
  expect(lines).not.toContain("SCRAM-SHA-256");
});
