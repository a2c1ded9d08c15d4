import postgres from "postgres";
import { describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { startSecrets } from "../steps/secrets.ts";
import { startWire, wireFaults } from "../steps/wire.ts";

const layWire = async (port: string) => {
  const wire = await startWire(Number(port));
  onTestFinished(() => wire.stop());
  return wire;
};

/** A pool, through wires. */
const openPool = async (max = 1) => {
  const { hostname, port, username, password, pathname } = new URL(inject("city").messengerUrl);
  const wire = await layWire(port);
  const { store, url } = await startSecrets({ DATABASE_SECRET_ID: "role", DATABASE_TLS: "disable" });
  const secrets = await layWire(new URL(url).port);
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", `http://127.0.0.1:${secrets.port}`);
  const login = { host: hostname, port: wire.port, dbname: pathname.slice(1), username, password };
  store.put("role", JSON.stringify(login));
  const { connect } = await import("#lib/db/pool.ts");
  const sql = await connect(max, undefined, 1_000);
  onTestFinished(() => sql.end({ timeout: 0 }));
  return { sql, wire, secrets };
};

test.each(wireFaults)(
  "a new connection opens with the last password while Secrets Manager fails: %s",
  async (fault) => {
    const { sql, wire, secrets } = await openPool();
    secrets.fail(fault);
    wire.fail("cut");
    await expect(sql`select 1`).rejects.toThrow();
    wire.well();
    expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
  },
);

test("a statement fails whose server has vanished, and the next one gets a new connection", async () => {
  const { sql, wire } = await openPool();
  await sql`select 1`;
  wire.lose();
  await expect(sql`select 1`).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
});

test("a server that accepts and closes gets one connection for each query, which fails at once", async () => {
  const { sql, wire } = await openPool();
  wire.fail("half-close");
  for (const connections of [1, 2, 3]) {
    await expect(sql`select 1`).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(wire.connections()).toBe(connections);
  }
  wire.well();
  expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
});

const readOnly = "25006";

describe("the server has become read-only, as the former primary of a failover", () => {
  const write = (sql: postgres.ISql) => sql`update messaging.leadership set holder = holder where false`;
  /** Asks both connections; a setting stays with its connection. */
  const onBoth = async <T>(sql: postgres.Sql, ask: (one: postgres.ISql) => Promise<T>): Promise<T[]> => {
    const both = Promise.withResolvers<void>();
    let asked = 0;
    const askOne = async (one: postgres.ISql) => {
      const answer = await ask(one);
      asked += 1;
      if (asked === 2) both.resolve();
      await both.promise;
      return answer;
    };
    return Promise.all([sql.begin(askOne), sql.begin(askOne)]) as Promise<T[]>;
  };
  const openReadOnly = async () => {
    const { sql } = await openPool(2);
    await onBoth(sql, async (one) => one`select set_config('default_transaction_read_only', 'on', false)`);
    return sql;
  };
  const listSettings = async (sql: postgres.Sql) => {
    const rows = await onBoth(
      sql,
      async (one) => one`select current_setting('transaction_read_only') as setting`,
    );
    return rows.map(([row]) => row?.setting);
  };

  test("a statement runs on a new connection, and all of the pool are replaced", async () => {
    const sql = await openReadOnly();
    expect(await listSettings(sql)).toEqual(["on", "on"]);
    await write(sql);
    expect(await listSettings(sql)).toEqual(["off", "off"]);
  });

  test("a transaction fails, and its repetition gets a new connection", async () => {
    const sql = await openReadOnly();
    await expect(sql.begin(write)).rejects.toMatchObject({ code: readOnly });
    await sql.begin(write);
  });

  test("a statement fails after two connections while every server is read-only, and the pool has both still", async () => {
    const sql = postgres(inject("city").messengerUrl, {
      max: 2,
      connection: { default_transaction_read_only: true },
    });
    onTestFinished(() => sql.end({ timeout: 0 }));
    for (let n = 0; n < 3; n++) {
      await expect(write(sql)).rejects.toMatchObject({ code: readOnly });
      const processes = await onBoth(sql, async (one) => one`select pg_backend_pid() as pid`);
      expect(new Set(processes.map(([row]) => row?.pid)).size).toBe(2);
    }
  });
});
