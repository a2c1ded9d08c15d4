import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { composeWith } from "./composed-stage.ts";
import { idOf, readTemplate } from "./template.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Rule = Record<string, any>;

/** WAF's text transformations, as far as the template uses them. */
const transform: Readonly<Record<string, (text: string) => string>> = {
  URL_DECODE: decodeURIComponent,
  NORMALIZE_PATH: posix.normalize,
  LOWERCASE: (text) => text.toLowerCase(),
};

const matches = ({ ByteMatchStatement }: Rule, path: string): boolean => {
  const { TextTransformations, PositionalConstraint, SearchString } = ByteMatchStatement;
  expect(PositionalConstraint).toBe("CONTAINS");
  const seen = TextTransformations.reduce(
    (text: string, { Type }: Rule) => transform[Type]?.(text) ?? expect.fail(Type),
    path,
  );
  return seen.includes(SearchString);
};

/** Other ways to write a path of the API, which reach the same route. */
const spellingsOf = (path: string) => [
  ...[`/test${path}`, `/api${path}`, `${path}/`, `/test${path.toUpperCase()}`],
  ...[`/test/%${"v".charCodeAt(0).toString(16)}${path.slice(2)}`, `/test/v1/.${path.slice(3)}`],
];

const [reputation, common, exploits, sql] = [
  ...["AWSManagedRulesAmazonIpReputationList", "AWSManagedRulesCommonRuleSet"],
  ...["AWSManagedRulesKnownBadInputsRuleSet", "AWSManagedRulesSQLiRuleSet"],
] as [string, string, string, string];

const expected = {
  integration: {
    rules: [
      ...[reputation, "all-paths", "employee-login", "employee-refresh", "employee-ticket"],
      ...[common, exploits, sql],
    ],
    bodiesLetThrough: [],
    blocked: { status: "error", code: "forbidden" },
    limited: { status: "error", code: "too_many_requests" },
  },
  messaging: {
    rules: [reputation, "all-paths", common, exploits],
    bodiesLetThrough: ["JavaDeserializationRCE_BODY", "Log4JRCE_BODY", "ReactJSRCE_BODY"],
    blocked: { status: false, code: "FORBIDDEN" },
    limited: { status: false, code: "TOO_MANY_REQUESTS" },
  },
};

describe.each(composeWith({ stage: "test" }).apis)("in front of the $api.name API", (stack) => {
  const { api } = stack;
  const { all, only, resources } = readTemplate(stack);
  const { rules: names, bodiesLetThrough, blocked, limited } = expected[api.name];
  const acl = only("WAFv2::WebACL");
  const rules: Rule[] = acl.Rules;
  const group = (name: string): Rule | undefined =>
    rules.find(({ Statement }) => Statement.ManagedRuleGroupStatement?.Name === name);
  const counted = (name: string): string[] =>
    (group(name)?.Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [])
      .filter(({ ActionToUse }: Rule) => ActionToUse.Count)
      .map(({ Name }: Rule) => Name);
  const limits = rules.filter(({ Statement }) => Statement.RateBasedStatement);

  test("a firewall protects the stage and allows what no rule blocks", () => {
    const { ResourceArn, WebACLArn } = only("WAFv2::WebACLAssociation");
    const stages = Object.keys(resources("ApiGateway::Stage"));
    expect(stages.filter((id) => JSON.stringify(ResourceArn).includes(`"${id}"`))).toEqual(stages);
    expect(idOf(WebACLArn)).toBe(Object.keys(resources("WAFv2::WebACL"))[0]);
    expect([acl.Scope, acl.DefaultAction]).toEqual(["REGIONAL", { Allow: {} }]);
  });

  test("rules check addresses first, then rates, then contents", () => {
    expect(rules.map(({ Priority }) => Priority)).toEqual(rules.map((_, i) => i));
    expect(rules.map(({ Name }) => Name)).toEqual(names);
  });

  test("addresses known for attacks, scanners and exploits are blocked; SQL in a value is only counted", () => {
    for (const name of [reputation, common, exploits])
      expect([name, group(name)?.OverrideAction]).toEqual([name, { None: {} }]);
    expect(group(sql)?.OverrideAction ?? { Count: {} }).toEqual({ Count: {} });
  });

  test.each([
    [
      "for the size of a parameter or text",
      ["SizeRestrictions_BODY", "SizeRestrictions_QUERYSTRING", "RestrictedExtensions_QUERYARGUMENTS"],
    ],
    ...["EC2MetaDataSSRF", "GenericLFI", "GenericRFI", "CrossSiteScripting"].map(
      (rule) => [`by ${rule} for a value`, [`${rule}_BODY`, `${rule}_QUERYARGUMENTS`]] as const,
    ),
    ["without a User-Agent", ["NoUserAgent_HEADER"]],
  ] as const)("no request is blocked %s", (_, some) =>
    expect(counted(common)).toEqual(expect.arrayContaining([...some])),
  );

  test("a body with a known exploit is blocked, unless the API accepts arbitrary texts and files", () =>
    expect(counted(exploits)).toEqual(bodiesLetThrough));

  test("no part of a request is stored: no samples, no log, and redaction in any log that is turned on later", () => {
    expect(all("WAFv2::LoggingConfiguration")).toEqual([]);
    for (const { VisibilityConfig } of [acl, ...rules] as Rule[])
      expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
    const hidden = acl.DataProtectionConfig.DataProtections.map(({ Action, Field }: Rule) => [
      ...[Action, Field.FieldType, Field.FieldKeys],
    ]);
    const credentials = expect.arrayContaining(["authorization", "apikey", "x-api-key"]);
    for (const field of ["QUERY_STRING", "SINGLE_QUERY_ARGUMENT", "BODY"])
      expect(hidden).toContainEqual(["SUBSTITUTION", field, undefined]);
    expect(hidden).toContainEqual(["SUBSTITUTION", "SINGLE_HEADER", credentials]);
  });

  test("a blocked request gets 403 in the API's error format", () => {
    const { status, body } = api.responses.WAF_FILTERED ?? expect.fail();
    expect([status, JSON.parse(body)]).toEqual([403, expect.objectContaining(blocked)]);
  });

  test("all paths and each limited route have a limit per address and minute, for all spellings of a path", () => {
    const { limits: rows } = api.firewall.perAddress;
    const rates = limits.map(({ Statement }) => Statement.RateBasedStatement);
    expect(
      rates.map(({ AggregateKeyType, Limit, EvaluationWindowSec }) => [
        ...[AggregateKeyType, Limit, EvaluationWindowSec],
      ]),
    ).toEqual(rows.map(({ requestsPerMinute }) => ["IP", requestsPerMinute, 60]));
    expect(rates[0].ScopeDownStatement).toBeUndefined();
    for (const [index, { route }] of rows.entries())
      for (const path of route ? [route.path, ...spellingsOf(route.path)] : []) {
        const matching = rates.map(({ ScopeDownStatement: one }) => one !== undefined && matches(one, path));
        expect([path, matching]).toEqual([path, rates.map((_, other) => other === index)]);
      }
  });

  test("an address over a limit gets 429 in the API's error format", () => {
    for (const { Action } of limits) {
      const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
      const { ContentType, Content } = acl.CustomResponseBodies[CustomResponseBodyKey];
      expect([ResponseCode, ContentType]).toEqual([429, "APPLICATION_JSON"]);
      expect(JSON.parse(Content)).toEqual({
        ...limited,
        message: expect.stringContaining("from this address"),
      });
      expect(ResponseHeaders).toContainEqual({ Name: "retry-after", Value: "60" });
      expect(JSON.stringify(ResponseHeaders)).not.toContain("$context");
    }
  });
});
