import { expect, test } from "vitest";
import { localSecretName, readLocalSecret } from "../../infra/local/secrets/store.ts";
import { useOwnCity } from "../steps/city/own-city.ts";

const own = useOwnCity();

test("a function whose server is gone finds the one that its secret names since, with its next request", async () => {
  const ask = async () => (await own.ask("/v1/pariwisata/kategori")).status;
  const { secrets } = own.city;
  const credentials = readLocalSecret("database/tourism", secrets);
  const move = (port: number) =>
    secrets.put(localSecretName("database/tourism"), JSON.stringify({ ...credentials, port }));
  move(1);
  expect(await ask()).toBe(500);
  move(credentials.port);
  expect(await ask()).toBe(200);
});
