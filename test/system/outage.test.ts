import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from "@aws-sdk/client-secrets-manager";
import postgres from "postgres";
import { describe, expect, test } from "vitest";
import { setPassword } from "#lib/db/password.ts";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { withoutConnections } from "../steps/exhausted-roles.ts";

const own = useOwnCity();
const paths = [
  ["/v1/penduduk", {}],
  ["/v1/penduduk/search", { p_nama: "a" }],
  ["/v1/pariwisata/kategori", undefined],
  ["/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)", undefined],
] as const;

const statuses = () => Promise.all(paths.map(async ([path, body]) => (await own.ask(path, body)).status));
const whole = [200, 200, 200, 200];

/** Each answer is a 500 that says nothing but its request id, within the 3 s that a caller is promised. */
const expectFailures = () =>
  Promise.all(
    paths.map(async ([path, body]) => {
      const response = await own.ask(path, body, AbortSignal.timeout(3_000));
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 500]);
      expect(JSON.parse(text)).toEqual({
        status: "error",
        code: "internal_error",
        message: expect.stringMatching(/request id/i),
        request_id: response.headers.get("x-request-id"),
      });
      expect(text).not.toMatch(/postgres|database|ECONN|127\.0\.0\.1|password/i);
    }),
  );

const withAdmin = async (work: (sql: postgres.Sql) => Promise<unknown>) => {
  const sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
  await work(sql).finally(() => sql.end());
};

const endConnections = (role: string) =>
  withAdmin(async (sql) => {
    await sql.unsafe(`grant ${role} to current_user`);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`;
  });

test("a stopped database causes a 500 within 3 s with the reason only in the log, until it is started", async () => {
  expect(await statuses()).toEqual(whole);
  await own.city.database.server.stop();
  await expectFailures();
  const failure = own
    .logged()
    .find(({ message, fn }) => message === "request failed" && fn === "tourism/categories");
  expect(failure.error.cause.code).toMatch(/ECONNREFUSED|CONNECTION_CLOSED/);
  await own.city.database.server.start();
  expect(await statuses()).toEqual(whole);
});

test("a database that crashed and recovered causes no failed request", async () => {
  expect(await statuses()).toEqual(whole);
  await own.city.database.server.stop("immediate");
  await own.city.database.server.start();
  expect(await statuses()).toEqual(whole);
});

test("a database that hangs causes a 500 within 3 s, until it continues", async () => {
  expect(await statuses()).toEqual(whole);
  const before = own.lines.length;
  const pids = [own.city.database.server.pid(), ...(await listBackends())];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    await expectFailures();
    expect(own.lines.join("\n")).toContain("did not answer within");
    // a request that was given up is not tried again behind its caller's back
    expect(own.lines.slice(before).join("\n")).not.toContain("connection renewed");
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
  expect(await statuses()).toEqual(whole);
});

test("a role without a connection left causes a 503 with Retry-After at once, until it has one", async () => {
  expect(await statuses()).toEqual(whole);
  const before = own.lines.length;
  await withoutConnections(
    own.city.database.adminUrl,
    ["municipal_resident", "municipal_tourism"],
    async () => {
      for (const [path, body] of paths) {
        const response = await own.ask(path, body);
        const { code } = (await response.json()) as { code: string };
        const answer = [path, response.status, response.headers.get("retry-after"), code];
        expect(answer).toEqual([path, 503, "2", "temporarily_unavailable"]);
      }
    },
  );
  // each connection is asked for once, and nothing waits for one
  expect(own.lines.slice(before).filter((line) => line.includes('"53300"'))).toHaveLength(paths.length);
  expect(await statuses()).toEqual(whole);
});

let partners = 0;

/** Adds a partner, whose key the gateway has no policy for. Returns what lists residents with it. */
const addCaller = async () => {
  let key = "";
  await withAdmin(async (sql) => {
    const added = await partnerDirectory(sql).add(`new-${++partners}`, "standard", {
      scopes: ["resident:read"],
    });
    key = added.key;
  });
  return () =>
    fetch(`${own.city.baseUrl}/v1/penduduk`, {
      method: "POST",
      headers: { apikey: key, "content-type": "application/json" },
      body: "{}",
    });
};

test("an authorizer waits for a connection that others have, and returns its own after the lookup", async () => {
  const list = await addCaller();
  const before = own.lines.length;
  const asked = Promise.withResolvers<Response>();
  await withoutConnections(own.city.database.adminUrl, ["municipal_gatekeeper"], async () => {
    list().then(asked.resolve, asked.reject);
    await expect
      .poll(() => own.lines.slice(before).join("\n"), { interval: 10 })
      .toContain("waits for a database connection");
  });
  expect((await asked.promise).status).toBe(200);
  await withAdmin(async (sql) => {
    const listHeld = () => sql`select from pg_stat_activity where usename = 'municipal_gatekeeper'`;
    await expect.poll(async () => (await listHeld()).length).toBe(0);
  });
});

test("an authorizer that gets no connection within 2 s causes a 500 with Retry-After", async () => {
  const list = await addCaller();
  await withoutConnections(own.city.database.adminUrl, ["municipal_gatekeeper"], async () => {
    const response = await list();
    expect([response.status, response.headers.get("retry-after")]).toEqual([500, "2"]);
  });
  expect(await statuses()).toEqual(whole);
});

const listBackends = async (): Promise<number[]> => {
  let pids: number[] = [];
  await withAdmin(async (sql) => {
    const rows = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where usename like 'municipal\\_%' and pid <> pg_backend_pid()`;
    pids = rows.map(({ pid }) => pid);
  });
  return pids;
};

test("a statement over the role's limit is 504 with advice", async () => {
  await withAdmin(async (sql) => {
    await sql.unsafe("alter role municipal_resident set statement_timeout = '1ms'");
  });
  await endConnections("municipal_resident");
  try {
    const response = await own.ask("/v1/penduduk", {});
    expect([response.status, await response.json()]).toEqual([
      504,
      expect.objectContaining({ code: "timeout" }),
    ]);
  } finally {
    await withAdmin((sql) => sql.unsafe("alter role municipal_resident set statement_timeout = '2s'"));
    await endConnections("municipal_resident");
  }
  expect(await statuses()).toEqual(whole);
});

describe("a password that is rotated in the database and in Secrets Manager", () => {
  test("loses no request, with kept or closed connections", async () => {
    expect(await statuses()).toEqual(whole);
    for (const role of ["resident", "tourism", "gatekeeper"] as const)
      await own.city.database.rotatePassword(role);
    expect(await statuses()).toEqual(whole);
    for (const role of ["municipal_resident", "municipal_tourism", "municipal_gatekeeper"])
      await endConnections(role);
    expect(await statuses()).toEqual(whole);
  });

  test("with the real SDK client, as a rotation does it", async () => {
    const client = new SecretsManagerClient({
      region: "local",
      endpoint: own.city.secretsUrl,
      credentials: { accessKeyId: "x", secretAccessKey: "x" },
    });
    const SecretId = "municipal/local/database/resident";
    const { SecretString, VersionStages } = await client.send(new GetSecretValueCommand({ SecretId }));
    expect(VersionStages).toEqual(["AWSCURRENT"]);
    const changed = { ...JSON.parse(SecretString ?? ""), password: "another-password" };
    await withAdmin((sql) => setPassword(sql, "municipal_resident", "another-password"));
    await client.send(new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(changed) }));
    await endConnections("municipal_resident");
    expect(await statuses()).toEqual(whole);
    const previous = await client.send(new GetSecretValueCommand({ SecretId, VersionStage: "AWSPREVIOUS" }));
    expect(previous.SecretString).toBe(SecretString);
  });
});

test("a read that cannot be audited returns no data", async () => {
  await withAdmin((sql) =>
    sql.unsafe("alter table audit.resident_read add constraint broken check (false) not valid"),
  );
  try {
    const response = await own.ask("/v1/penduduk", {});
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining("nama")]);
  } finally {
    await withAdmin((sql) => sql.unsafe("alter table audit.resident_read drop constraint broken"));
  }
});
