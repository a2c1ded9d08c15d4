import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { composeWith } from "./composed-stage.ts";
import { idOf, readTemplate } from "./template.ts";

const { apis } = composeWith({ stage: "test" });

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Rule = Record<string, any>;

/** WAF's text transformations, as far as the template uses them. */
const transform: Readonly<Record<string, (text: string) => string>> = {
  URL_DECODE: decodeURIComponent,
  NORMALIZE_PATH: posix.normalize,
  LOWERCASE: (text) => text.toLowerCase(),
};

const matches = (statement: Rule, path: string): boolean => {
  const { TextTransformations, PositionalConstraint, SearchString } = statement.ByteMatchStatement;
  expect(PositionalConstraint).toBe("CONTAINS");
  const seen = TextTransformations.reduce(
    (text: string, { Type }: Rule) => transform[Type]?.(text) ?? expect.fail(Type),
    path,
  );
  return seen.includes(SearchString);
};

describe.each(apis)("in front of the $api.name API", (stack) => {
  const { api } = stack;
  const { all, only, resources } = readTemplate(stack);
  const acl = only("WAFv2::WebACL");
  const rules: Rule[] = acl.Rules;
  const group = (name: string): Rule | undefined =>
    rules.find(({ Statement }) => Statement.ManagedRuleGroupStatement?.Name === name);
  const counted = (name: string): string[] =>
    (group(name)?.Statement.ManagedRuleGroupStatement.RuleActionOverrides ?? [])
      .filter(({ ActionToUse }: Rule) => ActionToUse.Count)
      .map(({ Name }: Rule) => Name);
  const limits: Rule[] = rules.filter(({ Statement }) => Statement.RateBasedStatement);

  test("a firewall protects the stage and allows what no rule blocks", () => {
    const { ResourceArn, WebACLArn } = only("WAFv2::WebACLAssociation");
    const stages = Object.keys(resources("ApiGateway::Stage"));
    expect(stages.filter((id) => JSON.stringify(ResourceArn).includes(`"${id}"`))).toEqual(stages);
    expect(idOf(WebACLArn)).toBe(Object.keys(resources("WAFv2::WebACL"))[0]);
    expect([acl.Scope, acl.DefaultAction]).toEqual(["REGIONAL", { Allow: {} }]);
  });

  test.each([
    "AWSManagedRulesAmazonIpReputationList",
    "AWSManagedRulesCommonRuleSet",
    "AWSManagedRulesKnownBadInputsRuleSet",
  ])("%s blocks", (name) => expect(group(name)?.OverrideAction).toEqual({ None: {} }));

  test("no request is blocked for the size or content of a parameter or text", () => {
    const judgesValues = ["BODY", "QUERYARGUMENTS"].flatMap((part) =>
      ["EC2MetaDataSSRF", "GenericLFI", "GenericRFI", "CrossSiteScripting"].map((rule) => `${rule}_${part}`),
    );
    expect(counted("AWSManagedRulesCommonRuleSet")).toEqual(
      expect.arrayContaining([
        ...["SizeRestrictions_BODY", "SizeRestrictions_QUERYSTRING", "RestrictedExtensions_QUERYARGUMENTS"],
        ...judgesValues,
      ]),
    );
    expect(group("AWSManagedRulesSQLiRuleSet")?.OverrideAction ?? { Count: {} }).toEqual({ Count: {} });
  });

  test("a caller needs no User-Agent", () =>
    expect(counted("AWSManagedRulesCommonRuleSet")).toContain("NoUserAgent_HEADER"));

  test("a body with a known exploit is blocked, unless the API accepts arbitrary texts and files", () =>
    expect(counted("AWSManagedRulesKnownBadInputsRuleSet")).toEqual(
      api.name === "messaging" ? ["JavaDeserializationRCE_BODY", "Log4JRCE_BODY", "ReactJSRCE_BODY"] : [],
    ));

  test("rules check addresses first, then rates, then contents", () => {
    expect(rules.map(({ Priority }) => Priority)).toEqual(rules.map((_, i) => i));
    const isIntegration = api.name === "integration";
    expect(rules.map(({ Name }) => Name)).toEqual([
      "AWSManagedRulesAmazonIpReputationList",
      "all-paths",
      ...(isIntegration ? ["employee-login", "employee-refresh", "employee-ticket"] : []),
      "AWSManagedRulesCommonRuleSet",
      "AWSManagedRulesKnownBadInputsRuleSet",
      ...(isIntegration ? ["AWSManagedRulesSQLiRuleSet"] : []),
    ]);
  });

  test("no part of a request is stored: no samples, no log, and redaction in any log that is turned on later", () => {
    expect(all("WAFv2::LoggingConfiguration")).toEqual([]);
    for (const { VisibilityConfig } of [acl, ...rules] as Rule[])
      expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
    const hidden = acl.DataProtectionConfig.DataProtections.map(({ Action, Field }: Rule) => [
      Action,
      Field.FieldType,
      Field.FieldKeys,
    ]);
    const credentials = expect.arrayContaining(["authorization", "apikey", "x-api-key"]);
    expect(hidden).toEqual(
      expect.arrayContaining([
        ["SUBSTITUTION", "QUERY_STRING", undefined],
        ["SUBSTITUTION", "SINGLE_QUERY_ARGUMENT", undefined],
        ["SUBSTITUTION", "BODY", undefined],
        ["SUBSTITUTION", "SINGLE_HEADER", credentials],
      ]),
    );
  });

  test("a blocked request gets 403 in the API's error format", () => {
    const { status, body } = api.responses.WAF_FILTERED ?? expect.fail();
    const expected = api.name === "messaging" ? [false, "FORBIDDEN"] : ["error", "forbidden"];
    expect([status, JSON.parse(body).status, JSON.parse(body).code]).toEqual([403, ...expected]);
  });

  test("all paths together have a limit per address and minute", () => {
    const own = limits.filter(({ Statement }) => !Statement.RateBasedStatement.ScopeDownStatement);
    const counts = own.map(({ Statement: { RateBasedStatement: rate } }) => [
      ...[rate.AggregateKeyType, rate.Limit, rate.EvaluationWindowSec],
    ]);
    expect(counts).toEqual([["IP", api.name === "messaging" ? 1_200 : 6_000, 60]]);
  });

  test("each limited route has a limit per address and minute, for all spellings of its path", () => {
    expect(limits.length).toBe(api.firewall.perAddress.limits.length);
    for (const { route, requestsPerMinute } of api.firewall.perAddress.limits) {
      if (!route) continue;
      const [, ...more] = route.path;
      const spellings = [
        `/test${route.path}`,
        `/api${route.path}`,
        `${route.path}/`,
        `/test${route.path.toUpperCase()}`,
        `/test/%${"v".charCodeAt(0).toString(16)}${more.slice(1).join("")}`,
        `/test/v1/.${route.path.slice(3)}`,
      ];
      const own = limits.filter(({ Statement: { RateBasedStatement } }) => {
        const { ScopeDownStatement } = RateBasedStatement;
        return ScopeDownStatement && matches(ScopeDownStatement, route.path);
      });
      expect(own.length).toBe(1);
      const { AggregateKeyType, Limit, EvaluationWindowSec, ScopeDownStatement } =
        own[0]?.Statement.RateBasedStatement ?? {};
      expect([AggregateKeyType, Limit, EvaluationWindowSec]).toEqual(["IP", requestsPerMinute, 60]);
      expect(spellings.filter((path) => !matches(ScopeDownStatement, path))).toEqual([]);
    }
  });

  test("an address over a limit gets 429 in the API's error format", () => {
    for (const { Action } of limits) {
      const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
      const { ContentType, Content } = acl.CustomResponseBodies[CustomResponseBodyKey];
      expect([ResponseCode, ContentType]).toEqual([429, "APPLICATION_JSON"]);
      expect(JSON.parse(Content)).toEqual({
        ...(api.name === "messaging"
          ? { status: false, code: "TOO_MANY_REQUESTS" }
          : { status: "error", code: "too_many_requests" }),
        message: expect.stringContaining("from this address"),
      });
      expect(ResponseHeaders).toContainEqual({ Name: "retry-after", Value: "60" });
      expect(JSON.stringify(ResponseHeaders)).not.toContain("$context");
    }
  });
});

test("login, refresh and ticket have a limit per address", () => {
  const limited = apis
    .flatMap(({ api }) => api.firewall.perAddress.limits)
    .flatMap(({ route, requestsPerMinute }) => (route ? [[route.fn, requestsPerMinute]] : []));
  expect(limited).toEqual([
    ["employee/login", 120],
    ["employee/refresh", 300],
    ["employee/ticket", 300],
  ]);
});
