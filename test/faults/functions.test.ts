import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { Credentials } from "#lib/db/credentials.ts";
import { recountBlocks } from "#lib/resident/verify.ts";
import { rotationSteps } from "#lib/secrets/table/rotation.ts";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { startCommand } from "../steps/command.ts";
import { canLogIn } from "../steps/connections.ts";
import { startFunction } from "../steps/function.ts";
import { residentCsv } from "../steps/residents/resident-csv.ts";
import { startWire, type Wire } from "../steps/wire.ts";
import { killWork, type Running, type Work } from "./functions.ts";
import { Points, watchDatabase } from "./points.ts";

const points = new Points();
const wires: Wire[] = [];
const own = useOwnCity(() => ({
  via: async (system, port) => {
    const wire = await startWire(port, system === "database" ? watchDatabase(points) : {});
    wires.push(wire);
    return wire.port;
  },
}));
afterAll(() => {
  for (const wire of wires) wire.stop();
});
const admin = withCityDatabase(own);
const loginOf = (role: string) =>
  Credentials.parse(JSON.parse(own.city.secrets.find(`municipal/local/database/${role}`)?.value ?? "{}"));
const urlOf = (role: string) => {
  const { host, port, username, password, dbname } = loginOf(role);
  return `postgres://${username}:${password}@${host}:${port}/${dbname}`;
};

const eventOf = (path: string, contentType: string, body: string) => ({
  ...{ httpMethod: "POST", path, resource: path, body, isBase64Encoded: false },
  headers: { "content-type": contentType },
  multiValueHeaders: { "content-type": [contentType] },
  ...{ queryStringParameters: null, multiValueQueryStringParameters: null, pathParameters: null },
  requestContext: { requestId: "a-request", identity: { sourceIp: "192.0.2.1" } },
});
const start = (fn: string, event: unknown, more = {}) => startFunction(own.city, fn, event, more);
const answerOf = async ({ ended }: ReturnType<typeof startFunction>) => {
  const { figures, lines } = await ended;
  const { statusCode, body } = figures?.answer ?? { statusCode: lines.join("; "), body: "{}" };
  return { status: statusCode as number, json: JSON.parse(body) };
};

/** Kills it at three points at most, evenly over all of them. */
const expectGood = async (work: Work, fewest: number) => {
  const {
    wrongs,
    points: all,
    chosen,
    killed,
  } = await killWork(points, work, (list) =>
    list.filter((_, index) => index % Math.ceil(list.length / 3) === 0),
  );
  expect(wrongs).toEqual([]);
  expect(killed).toBe(chosen);
  expect(all).toBeGreaterThanOrEqual(fewest);
};

const logIn = () => {
  const { username, password } = own.city.upstreams.demo;
  const body = JSON.stringify({ username, password });
  return start("employee/login", eventOf("/v1/simpeg/auth/login", "application/json", body));
};
const refresh = (token: string) => {
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }).toString();
  const type = "application/x-www-form-urlencoded";
  return start("employee/refresh", eventOf("/v1/simpeg/auth/refresh", type, body));
};

test("a login that was killed can be repeated, and its session works", { timeout: 120_000 }, () =>
  expectGood(
    {
      start: logIn,
      async again() {
        const { status, json } = await answerOf(logIn());
        if (status !== 200) return [`the next login: ${status} ${JSON.stringify(json)}`];
        const next = await answerOf(refresh(json.refresh_token));
        return next.status === 200 ? [] : [`the refresh: ${next.status}`];
      },
    },
    6,
  ),
);

test("a refresh that was killed can be repeated with the same token, and the session continues", {
  timeout: 120_000,
}, async () => {
  let token = "";
  await expectGood(
    {
      async prepare() {
        token = (await answerOf(logIn())).json.refresh_token;
      },
      start: () => refresh(token),
      async again() {
        const first = await answerOf(refresh(token));
        if (first.status !== 200) return [`repeated: ${first.status} ${JSON.stringify(first.json)}`];
        const next = await answerOf(refresh(first.json.refresh_token));
        return next.status === 200 ? [] : [`the next one: ${next.status}`];
      },
    },
    2,
  );
});

test("an import that was killed is completed by the next one, with all totals", {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "killed-import-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "residents.csv");
  const rows = 40;
  let made = 1_000_000;
  const run = () =>
    startCommand("infra/commands/import.ts", { DATABASE_URL: urlOf("importer") }, "residents", file);
  const count = () =>
    admin(async (sql) => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from resident.resident`;
      return row?.count ?? 0;
    });
  let before = 0;
  await expectGood(
    {
      async prepare() {
        before = await count();
        made += rows;
        writeFileSync(file, residentCsv(Array.from({ length: rows }, (_, n) => inventResident(made + n))));
      },
      start: run,
      async again() {
        const { status, errors } = await run().ended;
        const stored = (await count()) - before;
        const miscounts = await admin((sql) => recountBlocks(sql));
        return [
          ...(status === 0 && stored === rows ? [] : [`completed with ${status}, ${stored} rows: ${errors}`]),
          ...miscounts.map((miscount) => JSON.stringify(miscount)),
        ];
      },
    },
    4,
  );
});

test("a rotation that was killed in any step is completed by the next attempt, and the role can log in", {
  timeout: 240_000,
}, async () => {
  const name = "municipal/local/database/tourism";
  let token = "";
  const step = (Step: string) => {
    const SecretId = `arn:aws:secretsmanager:local:000000000000:secret:${name}-AbCdEf`;
    const SECRETS_PREFIX = "municipal/local/";
    return start("rotate", { Step, SecretId, ClientRequestToken: token }, { SECRETS_PREFIX });
  };
  const all = (): Running => {
    let running: ReturnType<typeof step> | undefined;
    let isKilled = false;
    const conduct = async () => {
      for (const Step of rotationSteps) {
        if (isKilled) return;
        running = step(Step);
        const { code, lines } = await running.ended;
        if (code !== 0 && !isKilled) throw new Error(`${Step}: ${lines.join("; ")}`);
      }
    };
    const kill = () => {
      isKilled = true;
      running?.kill();
    };
    return { ended: conduct(), kill };
  };
  await expectGood(
    {
      async prepare() {
        token = own.city.secrets.begin(name);
      },
      start: all,
      again: async () => {
        await all().ended;
        return (await canLogIn(loginOf("tourism"))) ? [] : ["the role cannot log in"];
      },
    },
    2,
  );
});

test("maintenance that was killed is completed by the next run, and all totals and seals are right", {
  timeout: 240_000,
}, async () => {
  const prepare = async () => {
    expect((await own.ask("/v1/penduduk", {})).status).toBe(200);
    await admin((sql) => sql`update resident.resident set name = name || ' A' where id % 5 = 0`);
  };
  await expectGood(
    {
      prepare,
      start: () => start("maintain", {}),
      async again() {
        const { code, lines } = await start("maintain", {}).ended;
        const miscounts = await admin((sql) => recountBlocks(sql));
        const audit = await startCommand(
          "infra/commands/audit.ts",
          { DATABASE_URL: urlOf("maintenance") },
          "verify",
        ).ended;
        return [
          ...(code === 0 ? [] : [lines.join("; ")]),
          ...miscounts.map((miscount) => JSON.stringify(miscount)),
          ...(audit.status === 0 ? [] : [audit.out, audit.errors]),
        ];
      },
    },
    4,
  );
});
