import { expect, inject, onTestFinished, test } from "vitest";
import { startSecrets } from "../steps/secrets.ts";
import { startWire } from "../steps/wire.ts";

test("a statement fails whose server has vanished, and the next one gets a new connection", async () => {
  const { hostname, port, username, password, pathname } = new URL(inject("city").messengerUrl);
  const wire = await startWire(Number(port));
  onTestFinished(() => wire.stop());
  const { store } = await startSecrets({ DATABASE_SECRET_ID: "role", DATABASE_TLS: "disable" });
  const login = { host: hostname, port: wire.port, dbname: pathname.slice(1), username, password };
  store.put("role", JSON.stringify(login));
  const { connect } = await import("#lib/db/pool.ts");
  const sql = await connect(1, undefined, 1_000);
  onTestFinished(() => sql.end({ timeout: 0 }));
  await sql`select 1`;
  wire.lose();
  await expect(sql`select 1`).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  expect(await sql`select 2 as n`).toEqual([{ n: 2 }]);
});
