import { App } from "aws-cdk-lib";
import { describe, expect, test } from "vitest";
import { examples, readConfig } from "../../infra/aws/config.ts";

const right = Object.fromEntries(Object.entries(examples).map(([key, [first]]) => [key, first]));
type Context = Readonly<Record<string, unknown>>;

/** @param line what `--context` gives, which the CDK mixes with the file's. */
const read = (changed: Context, line: Context = {}) => {
  const written = { ...right, ...changed };
  return readConfig(new App({ context: { ...written, ...line } }).node, written);
};

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
    ["countryCode", { countryCode: "+62" }, "62"],
    ["webVersion", { webVersion: "latest" }, "2.3000."],
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

describe("what differs between stages", () => {
  const stages = { prod: { production: true, protected: true, monthlyBudgetUsd: 900, messengerTasks: 3 } };
  const common = { protected: false, monthlyBudgetUsd: 150, stages };

  test("takes precedence in its stage alone", () => {
    expect(read({ ...common, stage: "prod" })).toMatchObject({ protected: true, monthlyBudgetUsd: 900 });
    expect(read({ ...common, stage: "dev" })).toMatchObject({ protected: false, monthlyBudgetUsd: 150 });
    expect(() => read({ stage: "prod", stages: { prod: { alarmEmail: "-" } } })).toThrow('key "alarmEmail"');
  });

  test("gives way to the command line, which also chooses the stage", () => {
    expect(read(common, { stage: "prod", messengerTasks: "1" })).toMatchObject({
      ...{ stage: "prod", messengerTasks: 1, protected: true, monthlyBudgetUsd: 900 },
    });
    // the same values as the other stages have, but as text
    expect(read(common, { stage: "prod", protected: "false", monthlyBudgetUsd: "150" })).toMatchObject({
      ...{ messengerTasks: 3, protected: false, monthlyBudgetUsd: 150 },
    });
  });

  test("may be JSON of the command line", () => {
    const text = JSON.stringify({ prod: { monthlyBudgetUsd: 800 } });
    expect(read({ stage: "prod" }, { stages: text })).toMatchObject({ monthlyBudgetUsd: 800 });
  });

  test.each([
    [
      "a misspelt key",
      { prod: { protcted: true } },
      'key "stages.prod.protcted" does not exist. Valid keys are',
    ],
    ["a misspelt key of another stage", { dev: { protcted: true } }, '"stages.dev.protcted"'],
    ["the name of a stage inside", { prod: { stage: "dev" } }, '"stages.prod.stage" does not exist'],
    ["a name that no stage can have", { Prod: {} }, 'key "stages" cannot be {"Prod":{}}. Valid values are'],
    ["nothing for a stage", { prod: null }, 'key "stages" cannot be {"prod":null}'],
    ["nothing", null, 'key "stages" cannot be null'],
    ["broken JSON", '{"prod":', 'key "stages" cannot be "{\\"prod\\":"'],
    ["nothing for a key", { prod: { alarmUrl: null } }, 'key "alarmUrl" cannot be null'],
  ])("is rejected with %s", (_, wrong, message) => {
    expect(() => read({ stage: "prod", stages: wrong })).toThrow(message);
  });

  test("is rejected with the keys that are valid, of which each is accepted", () => {
    const { stage: _, ...keys } = right;
    expect(() => read({ stage: "prod", stages: { prod: { x: 1 } } })).toThrow(Object.keys(keys).join(", "));
    expect(read({ stage: "prod", stages: { prod: keys } })).toMatchObject({ stage: "prod" });
  });
});

test.each(Object.entries(examples).flatMap(([key, values]) => values.map((value) => [key, value] as const)))(
  "the example for %s in an error is valid: %o",
  (key, value) =>
    expect(read({ [key]: value })).toMatchObject({ [key === "production" ? "isProduction" : key]: value }),
);

test("text values from the command line are parsed", () => {
  const { monthlyBudgetUsd, database } = read({
    ...{ monthlyBudgetUsd: "75", database: '{"kind":"aurora"}' },
  });
  expect([monthlyBudgetUsd, database]).toEqual([75, { kind: "aurora" }]);
});

test.each<[string, Record<string, unknown>, boolean | undefined]>([
  ["of another name, by its key alone", { stage: "kota", production: true }, true],
  ["of another name, from the command line", { stage: "kota", production: "true" }, true],
  ["named prod that says otherwise", { stage: "prod", stages: {}, production: false }, false],
  ["that says nothing", { stage: "dev" }, false],
  ["named prod that says nothing", { stage: "prod", stages: {} }, undefined],
  ["named production that says nothing", { stage: "production" }, undefined],
  ["with a domain of its own that says nothing", { stage: "kota", domain: examples.domain[0] }, undefined],
])("a stage %s", (_, changed, isProduction) => {
  const given = { ...{ production: undefined, domain: undefined }, ...changed };
  if (isProduction === undefined) expect(() => read(given)).toThrow('key "production" is not set');
  else expect(read(given)).toMatchObject({ isProduction, keepsData: isProduction });
});

test("only production keeps its data and uses two zones", () => {
  const [prod, dev] = [read({ production: true }), read({ production: false })];
  expect([prod.keepsData, dev.keepsData, prod.zones, dev.zones]).toEqual([true, false, 2, 1]);
});
