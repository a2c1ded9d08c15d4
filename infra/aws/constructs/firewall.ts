import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";
import { functionName } from "../../build/build.ts";
import type { AddressLimit, Firewall as Definition, GatewayResponse } from "../api.ts";

type Rule = Omit<CfnWebACL.RuleProperty, "priority" | "visibilityConfig">;

export interface FirewallProps extends Definition {
  readonly name: string;
  /** ARN of the API's stage. */
  readonly stageArn: string;
}

/**
 * Rules that guess from what a value holds, or its size, whether it is an attack. They count and let pass: a
 * password may hold `../`, a name a quote, a message the address of a server, a file anything, and each endpoint
 * has its own limit of size and its own 400. What values are is settled where they are used: by schemas, and by
 * statements that take them as parameters.
 */
const guessing = [
  "SizeRestrictions_BODY",
  "SizeRestrictions_QUERYSTRING",
  "EC2MetaDataSSRF_BODY",
  "EC2MetaDataSSRF_QUERYARGUMENTS",
  "GenericLFI_BODY",
  "GenericLFI_QUERYARGUMENTS",
  "GenericRFI_BODY",
  "GenericRFI_QUERYARGUMENTS",
  "RestrictedExtensions_QUERYARGUMENTS",
  "CrossSiteScripting_BODY",
  "CrossSiteScripting_QUERYARGUMENTS",
  // nothing asks a caller for this header, and PHP's file functions send none
  "NoUserAgent_HEADER",
];

const bodyKey = "tooMany";

/** Rules of exploits that are known word for word, where they look into the body. */
const exploitsInBody = ["JavaDeserializationRCE_BODY", "Log4JRCE_BODY", "ReactJSRCE_BODY"];

/**
 * A group of rules that AWS keeps.
 * @param counted rules whose matches are only counted. WAF ignores a name that it does not know.
 */
const managed = (group: string, counted: readonly string[] = []): Rule => ({
  name: group,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: {
      vendorName: "AWS",
      name: group,
      ...(counted.length > 0 && {
        ruleActionOverrides: counted.map((name) => ({ name, actionToUse: { count: {} } })),
      }),
    },
  },
});

const observed = (group: string): Rule => ({ ...managed(group), overrideAction: { count: {} } });

/** Before the path stand the stage's name or the base path; it may be written in capitals or with %-escapes. */
const calls = (path: string): CfnWebACL.StatementProperty => ({
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    positionalConstraint: "CONTAINS",
    searchString: path.toLowerCase(),
    textTransformations: ["URL_DECODE", "NORMALIZE_PATH", "LOWERCASE"].map((type, priority) => ({
      priority,
      type,
    })),
  },
});

const limited =
  ({ status, headers }: GatewayResponse) =>
  ({ route, requestsPerMinute }: AddressLimit): Rule => ({
    name: functionName(route.fn),
    action: {
      block: {
        customResponse: {
          responseCode: status ?? 429,
          customResponseBodyKey: bodyKey,
          responseHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
        },
      },
    },
    statement: {
      rateBasedStatement: {
        aggregateKeyType: "IP",
        limit: requestsPerMinute,
        evaluationWindowSec: 60,
        scopeDownStatement: calls(route.path),
      },
    },
  });

/**
 * What WAF must never store, should somebody turn on its log or its samples later: they are off, since they show
 * whole requests.
 */
const unseen: CfnWebACL.DataProtectProperty[] = [
  { fieldType: "QUERY_STRING" },
  { fieldType: "SINGLE_QUERY_ARGUMENT" },
  { fieldType: "BODY" },
  { fieldType: "SINGLE_HEADER", fieldKeys: ["authorization", "apikey", "x-api-key", "cookie"] },
].map((field) => ({ action: "SUBSTITUTION", field }));

/**
 * AWS WAF in front of a stage: bad addresses, too many calls from one, exploits that are known. What it refuses
 * is answered by the gateway as `WAF_FILTERED`, or by itself for an address that calls too often.
 *
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
export class Firewall extends Construct {
  constructor(scope: Construct, { name, stageArn, perAddress, takesAnyBody }: FirewallProps) {
    super(scope, "Firewall");
    const rules = [
      managed("AWSManagedRulesAmazonIpReputationList"),
      ...(perAddress ? perAddress.limits.map(limited(perAddress.refusal)) : []),
      managed("AWSManagedRulesCommonRuleSet", guessing),
      managed("AWSManagedRulesKnownBadInputsRuleSet", takesAnyBody ? exploitsInBody : []),
      // names with quotes are common; the count shows who tries
      ...(takesAnyBody ? [] : [observed("AWSManagedRulesSQLiRuleSet")]),
    ];
    const metrics = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false,
    });
    const acl = new CfnWebACL(this, "Acl", {
      name,
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      rules: rules.map((rule, priority) => ({ ...rule, priority, visibilityConfig: metrics(rule.name) })),
      visibilityConfig: metrics(name),
      dataProtectionConfig: { dataProtections: unseen },
      ...(perAddress && {
        customResponseBodies: {
          [bodyKey]: { contentType: "APPLICATION_JSON", content: perAddress.refusal.body },
        },
      }),
    });
    new CfnWebACLAssociation(this, "Association", { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
