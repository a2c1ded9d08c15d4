import { expect, inject, onTestFinished, test, vi } from "vitest";
import { startSecrets } from "../steps/secrets.ts";
import { startWire, wireFaults } from "../steps/wire.ts";

const layWire = async (port: string) => {
  const wire = await startWire(Number(port));
  onTestFinished(() => wire.stop());
  return wire;
};

/** A pool of one connection, through wires. */
const openPool = async () => {
  const { hostname, port, username, password, pathname } = new URL(inject("city").messengerUrl);
  const wire = await layWire(port);
  const { store, url } = await startSecrets({ DATABASE_SECRET_ID: "role", DATABASE_TLS: "disable" });
  const secrets = await layWire(new URL(url).port);
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", `http://127.0.0.1:${secrets.port}`);
  const login = { host: hostname, port: wire.port, dbname: pathname.slice(1), username, password };
  store.put("role", JSON.stringify(login));
  const { connect } = await import("#lib/db/pool.ts");
  const sql = await connect(1, undefined, 1_000);
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
