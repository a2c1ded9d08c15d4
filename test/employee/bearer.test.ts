import { createHmac, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { type CryptoKey, type JWTHeaderParameters, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import type { TokenKey } from "#lib/employee/token-key.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { signBriefToken } from "../steps/access-tokens.ts";
import { useOwnCity } from "../steps/city/own-city.ts";
import { employeeClient } from "../steps/employee.ts";

const own = useOwnCity();
const client = () => employeeClient(own.city.baseUrl);
const search = (token: string) => client().get("pegawai", { nama: "siti" }, token);

const keyName = "municipal/local/token-key";
const currentKey = (): TokenKey => JSON.parse(own.city.secrets.find(keyName)?.value ?? "{}");
const rotate = () => own.city.secrets.put(keyName, JSON.stringify(secretTable["token-key"].mint()));

const seconds = () => Math.floor(Date.now() / 1_000);
/** What a good token says, and a good header; each forgery changes one thing. */
const claims = (): JWTPayload => ({
  ...{ iss: "municipal-integration-api", aud: "municipal-integration-api/v1", sub: "1" },
  ...{ scope: "employee:read employee:ticket", jti: randomUUID() },
  ...{ iat: seconds(), nbf: seconds() - 5, exp: seconds() + 900 },
});
const header = (): JWTHeaderParameters => ({ alg: "HS256", typ: "at+jwt", kid: currentKey().kid });
const keyBytes = () => Buffer.from(currentKey().k, "base64url");

const sign = (
  change: { claims?: JWTPayload; header?: Partial<JWTHeaderParameters>; key?: Uint8Array | CryptoKey } = {},
) =>
  new SignJWT({ ...claims(), ...change.claims })
    .setProtectedHeader({ ...header(), ...change.header })
    .sign(change.key ?? keyBytes());

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token of any header, signed as HS256 with any bytes: what a library would refuse to make. */
const forge = (head: unknown, key: string | Buffer, body: unknown = claims()) => {
  const text = `${encode(head)}.${encode(body)}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
};

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const publicPem = rsa.publicKey.export({ type: "spki", format: "pem" }) as string;

describe("a token", () => {
  test("signed by us is accepted", async () => expect((await search(await sign())).status).toBe(200));

  const forgeries: [string, () => string | Promise<string>][] = [
    ["without signature, of alg none", () => new UnsecuredJWT(claims()).encode()],
    ["of alg none with our key id", () => `${encode({ ...header(), alg: "none" })}.${encode(claims())}.`],
    ["of alg NONE with a signature", () => forge({ ...header(), alg: "NONE" }, keyBytes())],
    ["signed as HS256, said to be RS256", () => forge({ ...header(), alg: "RS256" }, keyBytes())],
    ["signed as HS256 with a public RSA key", () => forge(header(), publicPem)],
    [
      "signed as RS256 with a key of its own",
      () => sign({ header: { alg: "RS256" }, key: rsa.privateKey as unknown as CryptoKey }),
    ],
    [
      "signed as HS512 with our key",
      () => sign({ header: { alg: "HS512" }, key: Buffer.concat([keyBytes(), keyBytes()]) }),
    ],
    ["signed with a foreign key", () => sign({ key: randomBytes(32) })],
    ["signed with an empty key", () => forge(header(), "")],
    ["signed with the key's text instead of its bytes", () => forge(header(), currentKey().k)],
    [
      "that brings its own key",
      () =>
        sign({
          header: { jwk: { kty: "oct", k: "AAAA" } as NonNullable<JWTHeaderParameters["jwk"]> },
          key: randomBytes(32),
        }),
    ],
    ["that has expired", () => sign({ claims: { exp: seconds() - 1 } })],
    ["without expiry", () => sign({ claims: { exp: undefined } as never })],
    ["that is not valid yet", () => sign({ claims: { nbf: seconds() + 60 } })],
    ["for another audience", () => sign({ claims: { aud: "another" } })],
    ["without audience", () => sign({ claims: { aud: undefined } as never })],
    ["of another issuer", () => sign({ claims: { iss: "another" } })],
    ["without subject", () => sign({ claims: { sub: undefined } as never })],
    ["without scope", () => sign({ claims: { scope: undefined } as never })],
    ["with a list as scope", () => sign({ claims: { scope: ["employee:read"] } })],
    ["of an unknown key id", () => sign({ header: { kid: randomUUID() } })],
    ["whose key id is an object", () => sign({ header: { kid: { toString: 1 } } as never })],
    ["without key id", () => sign({ header: { kid: undefined } as never })],
    ["of another type", () => sign({ header: { typ: "JWT" } })],
    [
      "with a critical extension that we do not know",
      () => forge({ ...header(), crit: ["x"], x: 1 }, keyBytes()),
    ],
    ["cut short", async () => (await sign()).slice(0, -1)],
    ["without its last part", async () => (await sign()).split(".").slice(0, 2).join(".")],
    [
      "with changed claims",
      async () => (await sign()).replace(/\.[^.]+\./, `.${encode({ ...claims(), sub: "9" })}.`),
    ],
    ["with something added", async () => `${await sign()}.x`],
    ["that is no token", () => "x"],
    ["that is a refresh token", () => `mir_${randomBytes(32).toString("base64url")}`],
  ];

  test.each(forgeries)("%s is rejected with 401 and a challenge", async (_, make) => {
    const { status, headers, json } = await search(await make());
    expect([status, json.code]).toEqual([401, "unauthorized"]);
    expect(headers.get("www-authenticate")).toMatch(/^Bearer /);
  });

  test.each([
    ["no header", undefined],
    ["a blank header", ""],
    ["another scheme", "Basic dTpw"],
    ["the scheme alone", "Bearer"],
    ["two tokens", "Bearer a b"],
  ])("that is missing is 401: %s", async (_, authorization) => {
    const response = await fetch(`${own.city.baseUrl}/v1/simpeg/pegawai`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(response.status).toBe(401);
  });

  test("in the URL is 401", async () => {
    const response = await fetch(`${own.city.baseUrl}/v1/simpeg/pegawai?access_token=${await sign()}`);
    expect(response.status).toBe(401);
  });

  test("is accepted with any case of the scheme", async () => {
    const response = await fetch(`${own.city.baseUrl}/v1/simpeg/pegawai`, {
      headers: { authorization: `bearer ${await sign()}` },
    });
    expect(response.status).toBe(200);
  });

  test("is not accepted beyond its expiry by the gateway's cache", async () => {
    const token = await signBriefToken(
      (exp) => sign({ claims: { exp } }),
      async (token) => (await search(token)).status,
    );
    await expect.poll(async () => (await search(token)).status).toBe(401);
    const { json } = await search(token);
    expect(json.code).toBe("unauthorized");
  });

  test.each([
    ["no scope", ""],
    ["another scope", "employee:ticket"],
    ["a longer scope", "employee:readwrite"],
  ])("with %s is 403", async (_, scope) => {
    const { status, json } = await search(await sign({ claims: { scope } }));
    expect([status, json.code]).toEqual([403, "forbidden"]);
  });
});

describe("rotating the key", () => {
  const login = () => client().login(own.city.upstreams.demo.username, own.city.upstreams.demo.password);

  beforeAll(() => own.city.reload());

  test("loses no request: tokens of the previous key stay valid, new ones are accepted at once", async () => {
    const old = (await login()).json.token;
    let running = true;
    const results: number[] = [];
    const note = <T extends { status: number }>(answer: T) => {
      results.push(answer.status);
      return answer;
    };
    const ask = async () => {
      while (running) note(await search(old));
    };
    const renew = async () => {
      while (running) {
        const { json } = note(await login());
        note(await search(json.token));
        note(await search(note(await client().refresh(json.refresh_token)).json.token));
      }
    };
    const asking = Promise.all([ask(), renew(), renew()]);
    rotate();
    // environments that start after the rotation sign with the new key; the others know it from no one else
    const renewed = await sign();
    results.push(
      ...(await Promise.all(Array.from({ length: 10 }, () => search(renewed)))).map(({ status }) => status),
    );
    own.city.reload();
    const fresh = (await login()).json.token;
    results.push((await search(fresh)).status);
    running = false;
    await asking;
    expect(results.length).toBeGreaterThan(13);
    expect(new Set(results)).toEqual(new Set([200]));
  });

  test("twice invalidates the tokens of the first key", async () => {
    const token = await sign();
    rotate();
    expect((await search(token)).status).toBe(200);
    rotate();
    own.city.reload();
    // with another space, so that the gateway has no cached policy for this header
    const response = await fetch(`${own.city.baseUrl}/v1/simpeg/pegawai`, {
      headers: { authorization: `Bearer  ${token}` },
    });
    expect(response.status).toBe(401);
  });
});
