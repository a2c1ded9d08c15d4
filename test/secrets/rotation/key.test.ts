import { afterAll, beforeAll, expect, test } from "vitest";
import { TokenKey } from "#lib/employee/token-key.ts";
import type { Lambda } from "../../../infra/local/lambda/lambda.ts";
import { employeeClient } from "../../steps/employee.ts";
import { useMessagingCity } from "../../steps/messaging-city.ts";
import { beginRotation, startRotator, steps } from "./rotation.ts";

const messaging = useMessagingCity();
const { own } = messaging;
let rotator: Lambda;

beforeAll(() => {
  rotator = startRotator(own);
});
afterAll(() => rotator.stop());

const begin = (name: string) => beginRotation(own, rotator, name);
const held = (name: string, stage = "AWSCURRENT") =>
  JSON.parse(own.city.secrets.find(`municipal/local/${name}`, { stage })?.value ?? "null");

test("access tokens of the key before a rotation stay valid, and new ones are of the new key", async () => {
  const client = employeeClient(own.city.baseUrl);
  const { username, password } = own.city.upstreams.demo;
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid as string;
  const before = (await client.login(username, password)).json.token as string;
  const rotation = begin("token-key");
  for (const step of steps) {
    await rotation.do(step);
    const token = (await client.login(username, password)).json.token as string;
    for (const one of [before, token])
      expect([step, (await client.get("pegawai", {}, one)).status]).toEqual([step, 200]);
  }
  expect(TokenKey.parse(held("token-key", "AWSPREVIOUS")).kid).toBe(kidOf(before));
  expect(TokenKey.parse(held("token-key")).kid).not.toBe(kidOf(before));
});

test("the messenger's token is a new one, and the one before is still there for those who hold it", async () => {
  const before = held("messenger-token");
  await begin("messenger-token").upTo("finishSecret");
  expect(held("messenger-token", "AWSPREVIOUS")).toEqual(before);
  expect(held("messenger-token")).toEqual({ token: expect.stringMatching(/^[\w-]{32,}$/) });
  expect(held("messenger-token")).not.toEqual(before);
});

test.each(["audit-pepper", "messenger-key", "messaging-basic", "messenger-console"])(
  "the secret %s is refused and stays as it is: a new one would make something unreadable, or lock somebody out",
  async (name) => {
    const before = held(name);
    await expect(begin(name).do("createSecret")).rejects.toThrow("shape that nobody here rotates");
    expect(held(name)).toEqual(before);
  },
);

test("a step of a rotation that nobody began is refused", async () => {
  const outcome = await rotator.invoke(
    {
      Step: "createSecret",
      SecretId: "municipal/local/token-key",
      ClientRequestToken: "00000000-0000-4000-8000-000000000000",
    },
    "request",
  );
  expect(outcome).toEqual(
    expect.objectContaining({ errorMessage: expect.stringMatching(/has no version .* to rotate to/) }),
  );
});
