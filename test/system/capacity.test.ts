import postgres from "postgres";
import { expect, test, vi } from "vitest";
import { connectionTo } from "#lib/db/credentials.ts";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { operatorConnections, planCapacity } from "../../infra/aws/capacity.ts";
import { readLocalSecret } from "../../infra/local/secrets/store.ts";
import { useOwnCity } from "../steps/city/own-city.ts";

/** Starts dozens of environments and connections. */
vi.setConfig({ testTimeout: 120_000 });

/** Of a server that is just large enough: more environments take long to start on a machine with two cores. */
const capacity = planCapacity({ connections: 78, functionConcurrency: 300 });
const own = useOwnCity(() => ({ capacity }));

const connectAsAdmin = () =>
  postgres(own.city.database.adminUrl, { max: 1, fetch_types: false, onnotice: () => {} });

/** The gateway of this machine looks up usage plans with one connection; on AWS there is none. */
const used: Partial<Record<LoginRole, number>> = { "partner-admin": 1 };

const connectAs = (role: LoginRole) => {
  const credentials = connectionTo(readLocalSecret(`database/${role}`, own.city.secrets));
  // opening all takes longer than an idle one may last; the driver does not send a zero
  const connection = { idle_session_timeout: 3_600_000 };
  return postgres({ ...credentials, connection, max: 1, fetch_types: false, onnotice: () => {} });
};

test("while each role has all of its connections, operators still connect, and callers get a 503", async () => {
  const roles = Object.keys(loginRoles) as LoginRole[];
  const clients = roles.flatMap((role) =>
    Array.from({ length: capacity.roles[role] - (used[role] ?? 0) }, () => connectAs(role)),
  );
  const operators = Array.from({ length: operatorConnections }, connectAsAdmin);
  try {
    for (const sql of [...clients, ...operators]) await sql`select 1`;
    const rejected = await own.ask("/v1/pariwisata/kategori");
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "2"]);
  } finally {
    await Promise.all([...clients, ...operators].map((sql) => sql.end()));
  }
  await expect.poll(async () => (await own.ask("/v1/pariwisata/kategori")).status).toBe(200);
});

test("a burst of requests is answered or rejected with Retry-After, and the next requests are served", async () => {
  const ask = async () => (await own.ask("/v1/penduduk", {})).status;
  // on AWS each environment has its own processor to start with
  const start = () => Promise.all(Array.from({ length: capacity.roles.resident }, ask));
  await expect.poll(async () => new Set(await start())).toEqual(new Set([200]));
  const answers = await Promise.all(Array.from({ length: 300 }, () => own.ask("/v1/penduduk", {})));
  // a 500 is the authorizer's, which has no other answer while it gets no connection
  const statuses = Map.groupBy(answers, ({ status }) => status);
  expect([...statuses.keys()].filter((status) => ![200, 429, 500, 502, 503].includes(status))).toEqual([]);
  expect(statuses.get(200)?.length ?? 0).toBeGreaterThan(0);
  for (const { status, headers } of answers)
    expect([status, status === 200 || Number(headers.get("retry-after")) > 0]).toEqual([status, true]);
  const operator = connectAsAdmin();
  await operator`select 1`.finally(() => operator.end());
  const askTen = async () => {
    const next: number[] = [];
    while (next.length < 10) next.push(await ask());
    return next;
  };
  await expect.poll(askTen).toEqual(Array(10).fill(200));
});
