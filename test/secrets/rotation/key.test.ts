import { expect, test } from "vitest";
import { rotationSteps } from "#lib/secrets/table/rotation.ts";
import { mintedSecrets, secretTable } from "#lib/secrets/table/table.ts";
import { useMessagingCity } from "../../steps/city/messaging-city.ts";
import { callCommand } from "../../steps/command.ts";
import { employeeClient } from "../../steps/employee.ts";
import { beginRotation, rotateStep } from "./rotation.ts";

const messaging = useMessagingCity();
const { own } = messaging;

const begin = (name: string) => beginRotation(own, name);
const held = (name: string, stage = "AWSCURRENT") =>
  JSON.parse(own.city.secrets.find(`municipal/local/${name}`, { stage })?.value ?? "null");

test("access tokens of the previous key stay valid, and new ones use the new key", async () => {
  const client = employeeClient(own.city.baseUrl);
  const { username, password } = own.city.upstreams.demo;
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid as string;
  const before = (await client.login(username, password)).json.token as string;
  const rotation = begin("token-key");
  for (const step of rotationSteps) {
    await rotation.do(step);
    const token = (await client.login(username, password)).json.token as string;
    for (const one of [before, token])
      expect([step, (await client.get("pegawai", {}, one)).status]).toEqual([step, 200]);
  }
  expect(held("token-key", "AWSPREVIOUS").kid).toBe(kidOf(before));
  expect(held("token-key").kid).not.toBe(kidOf(before));
});

test("the command rotates the token key by the same function", async () => {
  const before = held("token-key");
  const settings = own.city.variables({ secrets: { TOKEN_KEY_SECRET_ID: "token-key" } });
  const load = () => import("../../../infra/cli/token-key.ts");
  expect((await callCommand(load, settings, ...["rotate", "--force", "--stage", "local"])).status).toBe(0);
  expect(held("token-key", "AWSPREVIOUS")).toEqual(before);
  expect(own.logged().filter(({ step }) => step === "finishSecret").length).toBeGreaterThan(0);
});

test("the messenger's token is replaced, and the previous one stays valid", async () => {
  const before = held("messenger-token");
  await begin("messenger-token").upTo("finishSecret");
  expect(held("messenger-token", "AWSPREVIOUS")).toEqual(before);
  expect(held("messenger-token")).toEqual({ token: expect.stringMatching(/^[\w-]{32,}$/) });
  expect(held("messenger-token")).not.toEqual(before);
});

test.each(mintedSecrets.filter((name) => "never" in secretTable[name].rotation))(
  "the secret %s is rejected with the reason of the table, and does not change",
  async (name) => {
    const before = held(name);
    const { rotation } = secretTable[name];
    await expect(begin(name).do("createSecret")).rejects.toThrow(
      `never rotated: ${"never" in rotation && rotation.never}`,
    );
    expect(held(name)).toEqual(before);
  },
);

test.each([
  ["that the table does not have", "municipal/local/demo-passwords"],
  ["of another stage", "municipal/other/token-key"],
  ["whose name continues one of the table", "municipal/local/token-key/2"],
])("a secret %s is rejected, although its value has the shape of a rotated one", async (_, id) => {
  const { secrets } = own.city;
  const before = JSON.stringify(held("token-key"));
  secrets.put(id, before);
  const attempt = rotateStep(own, "createSecret", id, secrets.begin(id));
  await expect(attempt).rejects.toThrow("is none of the stage's");
  expect(secrets.find(id)?.value).toBe(before);
});

test("a step of a rotation that has not started is rejected", async () => {
  const token = "00000000-0000-4000-8000-000000000000";
  const attempt = rotateStep(own, "createSecret", "municipal/local/token-key", token);
  await expect(attempt).rejects.toThrow(/has no version .* to rotate to/);
});
