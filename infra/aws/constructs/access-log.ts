import { RemovalPolicy } from "aws-cdk-lib";
import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from "aws-cdk-lib/aws-apigateway";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";

/**
 * The logged fields of a request. Path and query may contain an identity number or a passphrase, so they are left
 * out, like address and account: `resourcePath` is the route's template, `partner` the id of the usage key.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  time: "$context.requestTime",
  request_id: "$context.requestId",
  method: "$context.httpMethod",
  route: "$context.resourcePath",
  status: "$context.status",
  latency_ms: "$context.responseLatency",
  function_ms: "$context.integrationLatency",
  function_status: "$context.integrationStatus",
  response_bytes: "$context.responseLength",
  refused_as: "$context.error.responseType",
  firewall: "$context.wafResponseCode",
  partner: "$context.identity.apiKeyId",
};

/** Writes one line of JSON for each request of a stage, with a fixed retention. */
export const accessLog = (
  scope: Construct,
  retention: RetentionDays,
): Pick<StageOptions, "accessLogDestination" | "accessLogFormat"> => ({
  accessLogDestination: new LogGroupLogDestination(
    new LogGroup(scope, "AccessLog", { retention, removalPolicy: RemovalPolicy.DESTROY }),
  ),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(fields)),
});
