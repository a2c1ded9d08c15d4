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
 * Rules that guess from the content or size of a value whether it is an attack. They run in count-only mode: a
 * password may contain `../`, a name a quote, a message a server address, a file anything, and each endpoint has its
 * own size limit. Values are validated by schemas, and passed to SQL as parameters.
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

/** Rules that look for known exploits in the body. */
const exploitsInBody = ["JavaDeserializationRCE_BODY", "Log4JRCE_BODY", "ReactJSRCE_BODY"];

/**
 * Adds a managed rule group of AWS.
 * @param counted rules that run in count-only mode. WAF ignores unknown names.
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

/** The path starts with the stage's name or the base path, and may use capitals or %-escapes. */
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
    name: route ? functionName(route.fn) : "all-paths",
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
        ...(route && { scopeDownStatement: calls(route.path) }),
      },
    },
  });

/**
 * Fields that WAF must never store. Logs and samples are off, because they show whole requests; this protects the
 * fields if somebody turns them on.
 */
const unseen: CfnWebACL.DataProtectProperty[] = [
  { fieldType: "QUERY_STRING" },
  { fieldType: "SINGLE_QUERY_ARGUMENT" },
  { fieldType: "BODY" },
  { fieldType: "SINGLE_HEADER", fieldKeys: ["authorization", "apikey", "x-api-key", "cookie"] },
].map((field) => ({ action: "SUBSTITUTION", field }));

/**
 * AWS WAF in front of a stage: blocks bad addresses, rate-limits each address, blocks known exploits. The gateway
 * answers a blocked request with `WAF_FILTERED`; WAF itself answers a rate-limited one.
 *
 * @see https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-list.html
 */
export class Firewall extends Construct {
  constructor(scope: Construct, { name, stageArn, perAddress, takesAnyBody }: FirewallProps) {
    super(scope, "Firewall");
    const rules = [
      managed("AWSManagedRulesAmazonIpReputationList"),
      ...perAddress.limits.map(limited(perAddress.refusal)),
      managed("AWSManagedRulesCommonRuleSet", guessing),
      managed("AWSManagedRulesKnownBadInputsRuleSet", takesAnyBody ? exploitsInBody : []),
      // names with quotes are common; the count still shows attempts
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
      customResponseBodies: {
        [bodyKey]: { contentType: "APPLICATION_JSON", content: perAddress.refusal.body },
      },
    });
    new CfnWebACLAssociation(this, "Association", { resourceArn: stageArn, webAclArn: acl.attrArn });
  }
}
