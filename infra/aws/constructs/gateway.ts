import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import * as apigateway from "aws-cdk-lib/aws-apigateway";
import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from "aws-cdk-lib/aws-apigateway";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { withAddresses } from "#lib/openapi/addresses.ts";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { type Address, methodsOf, preflightHeaders, type Rate, type Route } from "#lib/routes/route.ts";
import type { Api } from "../api.ts";
import type { Config } from "../config.ts";
import { usagePlanName } from "../stage-names.ts";
import { findPlace, type Place } from "./custom-domain.ts";
import { NodeFunction, type StackContext } from "./node-function.ts";

export interface GatewayProps extends StackContext {
  readonly api: Api;
  /** The address of the other API, for the functions of the documentation. */
  readonly addresses: Partial<Readonly<Record<Address, string>>>;
}

const throttling = ({ requestsPerSecond, burst }: Rate) => ({
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
});

export const addressNames: Readonly<Record<Api["name"], Address>> = {
  integration: "INTEGRATION_ADDRESS",
  messaging: "MESSAGING_ADDRESS",
};

const urlOf = ({ host, basePath }: Place): string => `https://${host}${basePath ? `/${basePath}` : ""}`;

/** The addresses that are known before the APIs are: the stack of one API can refer to the other's, but not both. */
export const addressesOf = (config: Config): Partial<Record<Address, string>> =>
  Object.fromEntries(
    (["integration", "messaging"] as const).flatMap((name) => {
      const place = findPlace(config, { name });
      return place ? [[addressNames[name], urlOf(place)]] : [];
    }),
  );

/** Execution logs are off: they contain the query, which may hold a passphrase. */
const withoutExecutionLog = {
  loggingLevel: apigateway.MethodLoggingLevel.OFF,
  dataTraceEnabled: false,
};

/** One REST API with its functions, built from the definition that the local gateway reads too. */
export class Gateway extends Construct {
  readonly rest: apigateway.RestApi;
  /** The public address, without a trailing slash. */
  readonly baseUrl: string;
  /** In the order of the routes. */
  readonly usagePlans: readonly apigateway.UsagePlan[];

  readonly #stackContext: StackContext;
  readonly #addresses: Partial<Readonly<Record<Address, string>>>;

  constructor(scope: Construct, { api, addresses, ...stackContext }: GatewayProps) {
    super(scope, "Gateway");
    this.#stackContext = stackContext;
    const place = findPlace(stackContext.config, api);
    // a custom domain is the only way in
    this.rest = this.#api(api, !place);
    this.baseUrl = place ? urlOf(place) : this.#defaultUrl();
    this.#addresses = {
      ...addressesOf(stackContext.config),
      ...addresses,
      [addressNames[api.name]]: this.baseUrl,
    };
    const authorizers = new Map(api.authorizers.map((row) => [row.kind, this.#authorizer(row)]));
    for (const route of api.routes)
      this.#method(route, route.auth.kind === "public" ? undefined : authorizers.get(route.auth.kind));
    this.#responses(api.responses);
    this.usagePlans = this.#usagePlans(api.usagePlans);
    this.#acknowledge();
  }

  #api(api: Api, hasDefaultAddress: boolean): apigateway.RestApi {
    const { stage, logRetention } = this.#stackContext.config;
    const own = api.routes.flatMap(({ throttle, ...route }) =>
      throttle
        ? methodsOf(route).map(
            (method) =>
              [`${route.path}/${method}`, { ...throttling(throttle), ...withoutExecutionLog }] as const,
          )
        : [],
    );
    const rest = new apigateway.RestApi(this, "Api", {
      restApiName: `municipal-${stage}-${api.name}`,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      disableExecuteApiEndpoint: !hasDefaultAddress,
      apiKeySourceType: apigateway.ApiKeySourceType.AUTHORIZER,
      binaryMediaTypes: [...api.binaryMediaTypes],
      // API Gateway has one log role per account and region: the last stack sets it, and the role is retained,
      // because other APIs may use it
      cloudWatchRole: true,
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: stage,
        ...throttling(api.throttle),
        ...withoutExecutionLog,
        methodOptions: Object.fromEntries(own),
        ...accessLog(this, logRetention),
      },
    });
    // the stack outputs its own address, without a trailing slash or at the custom domain
    rest.node.tryRemoveChild("Endpoint");
    return rest;
  }

  #defaultUrl(): string {
    const { region, urlSuffix } = Stack.of(this);
    return `https://${this.rest.restApiId}.execute-api.${region}.${urlSuffix}/${this.#stackContext.config.stage}`;
  }

  #authorizer(row: Authorizer): apigateway.RequestAuthorizer {
    return new apigateway.RequestAuthorizer(this, `${row.kind}Authorizer`, {
      handler: new NodeFunction(this, { ...this.#stackContext, ...row }).lambda,
      identitySources: row.identityHeaders.map(apigateway.IdentitySource.header),
      resultsCacheTtl: Duration.seconds(row.cacheSeconds),
    });
  }

  #method(route: Route, authorizer: apigateway.IAuthorizer | undefined) {
    const environment = Object.fromEntries(
      (route.addresses ?? []).map((name) => [name, this.#addresses[name] ?? ""]),
    );
    const { lambda } = new NodeFunction(this, { ...this.#stackContext, ...route, environment });
    const resource = this.rest.root.resourceForPath(route.path);
    const integration = new apigateway.LambdaIntegration(lambda, { allowTestInvoke: false });
    for (const name of methodsOf(route)) {
      const method = resource.addMethod(name, integration, {
        apiKeyRequired: route.auth.kind === "apiKey",
        ...(authorizer
          ? { authorizationType: apigateway.AuthorizationType.CUSTOM, authorizer }
          : { authorizationType: apigateway.AuthorizationType.NONE }),
      });
      if (!authorizer)
        Validations.of(method).acknowledge({
          id: "AwsSolutions-APIG4",
          reason: `Public by the API's contract: ${route.summary}. Throttled here, and for each address by WAF`,
        });
    }
    if (!route.cors) return;
    const preflight = resource.addCorsPreflight({
      allowOrigins: apigateway.Cors.ALL_ORIGINS,
      allowMethods: [...methodsOf(route), "OPTIONS"],
      allowHeaders: [...preflightHeaders],
      maxAge: Duration.days(1),
    });
    // where every type is binary, the template of a mock needs text, or each preflight is a 500 (aws/chalice issue 1310)
    (preflight.node.defaultChild as apigateway.CfnMethod).addPropertyOverride(
      "Integration.ContentHandling",
      "CONVERT_TO_TEXT",
    );
  }

  /** API Gateway's mapping quotes a literal header value, but not a context variable. */
  #responses(responses: Api["responses"]) {
    const {
      INTEGRATION_ADDRESS: integration = "the integration API's address",
      MESSAGING_ADDRESS: messaging = "the messaging API's address",
    } = this.#addresses;
    const map = (value: string) => (value === "$context.requestId" ? "context.requestId" : `'${value}'`);
    for (const [type, { status, headers, body }] of Object.entries(responses))
      this.rest.addGatewayResponse(type, {
        type: apigateway.ResponseType.of(type),
        ...(status !== undefined && { statusCode: String(status) }),
        responseHeaders: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, map(value)]),
        ),
        templates: { "application/json": withAddresses(body, { integration, messaging }) },
      });
  }

  #usagePlans(plans: Api["usagePlans"]): apigateway.UsagePlan[] {
    const { stage } = this.#stackContext.config;
    return Object.entries(plans).map(([name, { requestsPerSecond, burst, requestsPerDay }]) =>
      this.rest.addUsagePlan(`${name}Plan`, {
        name: usagePlanName(stage, name),
        throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
        quota: { limit: requestsPerDay, period: apigateway.Period.DAY },
        apiStages: [{ stage: this.rest.deploymentStage }],
      }),
    );
  }

  #acknowledge() {
    Validations.of(this.rest).acknowledge(
      {
        id: "AwsSolutions-APIG2",
        reason:
          "Each function checks path, query, headers and body by its route's schema and answers in the API's own words; a validator of API Gateway would answer before the authorizer's 401 and with another text",
      },
      {
        id: "AwsSolutions-COG4",
        reason:
          "Callers are partner systems with keys, backends with Basic credentials, and employees of the city's legacy account system: Lambda authorizers verify them, and there are no users for a Cognito pool",
      },
    );
    Validations.of(this.rest.deploymentStage).acknowledge({
      id: "AwsSolutions-APIG6",
      reason:
        "Execution logs hold the query, in which a passphrase stands by the API's contract, and parts of bodies. The access log and the functions' logs, which hold neither, take their place",
    });
    Validations.of(this.rest.node.findChild("CloudWatchRole")).acknowledge({
      id: "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]",
      reason:
        "API Gateway takes one role for all APIs of account and region, and refuses one that does less than this policy of its own",
    });
  }
}

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
const accessLog = (
  scope: Construct,
  retention: RetentionDays,
): Pick<StageOptions, "accessLogDestination" | "accessLogFormat"> => ({
  accessLogDestination: new LogGroupLogDestination(
    new LogGroup(scope, "AccessLog", { retention, removalPolicy: RemovalPolicy.DESTROY }),
  ),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(fields)),
});
