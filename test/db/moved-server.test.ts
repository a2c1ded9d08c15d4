import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { localSecretName, readLocalSecret } from "../../infra/local/secrets/store.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { startWire } from "../steps/wire.ts";

const own = useOwnCity();

const ask = async (path = "/v1/pariwisata/kategori", body?: object) => (await own.ask(path, body)).status;

const openMove = () => {
  const { secrets } = own.city;
  const credentials = readLocalSecret("database/tourism", secrets);
  const move = (port: number) =>
    secrets.put(localSecretName("database/tourism"), JSON.stringify({ ...credentials, port }));
  return { move, port: credentials.port };
};

test("a function whose server is gone finds the one that its secret names since, with its next request", async () => {
  const { move, port } = openMove();
  move(1);
  expect(await ask()).toBe(500);
  move(port);
  expect(await ask()).toBe(200);
});

test.each(["before", "during"])(
  "a request finds the server that the secret names since its connection was closed, %s its statement",
  async (moment) => {
    const { move, port } = openMove();
    let isGoing = false;
    const wire = await startWire(port, {
      onRequest() {
        if (isGoing) wire.stop();
      },
    });
    move(wire.port);
    own.city.reload();
    expect(await ask()).toBe(200);
    move(port);
    isGoing = true;
    if (moment === "before") wire.stop();
    expect(await ask()).toBe(200);
  },
);

test("a function that has connected while the server only read serves the first request after that", async () => {
  const password = own.city.secrets.find("municipal/local/database/superuser")?.value ?? "";
  const url = Object.assign(new URL(own.city.database.adminUrl), { username: "postgres", password });
  // opened before, so that it may write
  const sql = postgres(url.href, { max: 1 });
  onTestFinished(() => sql.end());
  const name = sql(url.pathname.slice(1));
  await sql`alter database ${name} set default_transaction_read_only = on`;
  expect(await ask("/v1/penduduk", {})).toBe(500);
  await sql`alter database ${name} reset default_transaction_read_only`;
  expect(await ask("/v1/penduduk", {})).toBe(200);
});
