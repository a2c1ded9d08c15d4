import { App } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { examples, readConfig } from "../../infra/aws/config.ts";

const right = Object.fromEntries(Object.entries(examples).map(([key, [first]]) => [key, first]));
const read = (changed: Readonly<Record<string, unknown>>) =>
  readConfig(new App({ context: { ...right, ...changed } }).node);

describe("the error for a wrong value names its key and valid examples", () => {
  test.each([
    ["stage", { stage: "Production" }, '"prod"'],
    ["stage", { stage: undefined }, '"prod"'],
    ["stage", { stage: "a-" }, '"prod"'],
    ["stage", { stage: "a--b" }, '"prod"'],
    ["stage", { stage: "a2345678901234567" }, '"prod"'],
    ["alarmEmail", { alarmEmail: "nobody" }, '"operations@city.example"'],
    ["monthlyBudgetUsd", { monthlyBudgetUsd: "much" }, "150"],
    ["database.kind", { database: { kind: "mysql" } }, '"kind":"instance"'],
    ["database.kind", { database: '{"kind":"mysql"}' }, '"kind":"existing"'],
    ["database", { database: '{"kind":' }, '"kind":"aurora"'],
    ["database.host", { database: { kind: "existing", dbname: "city", adminSecret: "a" } }, '"host":'],
    ["database.storageGb", { database: { kind: "instance", storageGb: 1 } }, '"storageGb":50'],
    ["upstream.employeeSystemUrl", { upstream: { legacyAuthUrl: "https://a.example" } }, "https://simpeg."],
    [
      "upstream.legacyAuthUrl",
      { upstream: { ...(examples.upstream[0] as object), legacyAuthUrl: "ftp://a" } },
      "https://legacy.",
    ],
    ["network.egress", { network: { egress: "vpn" } }, '"egress":"nat"'],
    ["network.cidr", { network: { egress: "nat", cidr: "10.40.0.0/16" } }, '"cidr":"172.20.16.0/20"'],
    ["network.cidr", { network: { egress: "nat", cidr: "10.40.1.0/20" } }, '"cidr":"172.20.16.0/20"'],
    ["network.cidr", { network: { egress: "nat", cidr: "8.8.0.0/20" } }, '"cidr":"172.20.16.0/20"'],
    [
      "domain.certificateArn",
      { domain: { ...(examples.domain[0] as object), certificateArn: "arn" } },
      "arn:aws:acm:",
    ],
    ["messagingImage", { messagingImage: "latest" }, "municipal-messenger:1.0.0"],
    [
      "consoleLogin.issuer",
      { consoleLogin: { ...(examples.consoleLogin[0] as object), issuer: "http://login.example" } },
      "https://cognito-idp.",
    ],
  ])("%s of %o", (key, changed, example) => {
    expect(() => read(changed)).toThrow(`context key "${key}"`);
    expect(() => read(changed)).toThrow(example);
  });

  test("for an unknown nested key, which may be misspelt", () => {
    const upstream = { ...(examples.upstream[0] as object), legacyAuthURL: "https://a.example" };
    expect(() => read({ upstream })).toThrow('context key "upstream"');
  });

  test("for all wrong values at once", () => {
    expect(() => read({ stage: "-", alarmEmail: "-" })).toThrow(/"stage"[\s\S]*"alarmEmail"/);
  });
});

test("a key of one stage takes precedence in that stage alone", () => {
  const stages = { prod: { protected: true, monthlyBudgetUsd: 900 } };
  const common = { protected: false, monthlyBudgetUsd: 150, stages };
  expect(read({ ...common, stage: "prod" })).toMatchObject({ protected: true, monthlyBudgetUsd: 900 });
  expect(read({ ...common, stage: "dev" })).toMatchObject({ protected: false, monthlyBudgetUsd: 150 });
  expect(() => read({ stage: "prod", stages: { prod: { alarmEmail: "-" } } })).toThrow('key "alarmEmail"');
});

test.each(Object.entries(examples).flatMap(([key, values]) => values.map((value) => [key, value] as const)))(
  "the example for %s in an error is valid: %o",
  (key, value) => expect(read({ [key]: value })).toMatchObject({ [key]: value }),
);

test("text values from the command line are parsed", () => {
  const { monthlyBudgetUsd, database } = read({ monthlyBudgetUsd: "75", database: '{"kind":"aurora"}' });
  expect([monthlyBudgetUsd, database]).toEqual([75, { kind: "aurora" }]);
});

test("only production keeps its data and uses two zones", () => {
  const [prod, dev] = [read({ stage: "prod" }), read({ stage: "dev" })];
  expect([prod.keepsData, dev.keepsData, prod.zones, dev.zones]).toEqual([true, false, 2, 1]);
});
