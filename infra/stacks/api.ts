import { Duration, Stack } from "aws-cdk-lib";
import * as apigateway from "aws-cdk-lib/aws-apigateway";
import type { Construct } from "constructs";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import type { Route } from "#lib/routes/route.ts";
import type { Api } from "../api.ts";
import { NodeFunction, type Surroundings } from "../constructs/node-function.ts";

export interface ApiStackProps extends Surroundings {
  readonly api: Api;
}

/** One REST API with its functions, as the definition says: the same that the local gateway reads. */
export class ApiStack extends Stack {
  readonly api: Api;

  readonly #rest: apigateway.RestApi;

  readonly #surroundings: Surroundings;

  constructor(scope: Construct, id: string, { api, config, network }: ApiStackProps) {
    super(scope, id);
    this.api = api;
    this.#surroundings = { config, network };
    const { stage } = config;
    this.#rest = new apigateway.RestApi(this, "Api", {
      restApiName: `municipal-${stage}-${api.name}`,
      endpointTypes: [apigateway.EndpointType.REGIONAL],
      apiKeySourceType: apigateway.ApiKeySourceType.AUTHORIZER,
      binaryMediaTypes: [...api.binaryMediaTypes],
      cloudWatchRole: false,
      deployOptions: {
        stageName: stage,
        throttlingRateLimit: api.throttle.requestsPerSecond,
        throttlingBurstLimit: api.throttle.burst,
        // execution logs hold the query, in which a passphrase may stand
        loggingLevel: apigateway.MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
      },
    });
    const authorizers = new Map(
      api.authorizers.map((authorizer) => [authorizer.kind, this.#guard(authorizer)]),
    );
    for (const route of api.routes)
      this.#connect(route, route.auth.kind === "public" ? undefined : authorizers.get(route.auth.kind));
    this.#answer(api.responses);
    this.#meter(stage, api.usagePlans);
  }

  #guard(authorizer: Authorizer): apigateway.RequestAuthorizer {
    const { identityHeaders, cacheSeconds } = authorizer;
    return new apigateway.RequestAuthorizer(this, `${authorizer.kind}Authorizer`, {
      handler: new NodeFunction(this, { ...this.#surroundings, ...authorizer }).lambda,
      identitySources: identityHeaders.map(apigateway.IdentitySource.header),
      resultsCacheTtl: Duration.seconds(cacheSeconds),
    });
  }

  #connect(route: Route, authorizer: apigateway.IAuthorizer | undefined) {
    const { lambda } = new NodeFunction(this, { ...this.#surroundings, ...route });
    const resource = this.#rest.root.resourceForPath(route.path);
    resource.addMethod(route.method, new apigateway.LambdaIntegration(lambda), {
      apiKeyRequired: route.auth.kind === "apiKey",
      ...(authorizer
        ? { authorizationType: apigateway.AuthorizationType.CUSTOM, authorizer }
        : { authorizationType: apigateway.AuthorizationType.NONE }),
    });
    if (route.cors)
      resource.addCorsPreflight({
        allowOrigins: apigateway.Cors.ALL_ORIGINS,
        allowMethods: [route.method, "OPTIONS"],
        allowHeaders: ["Content-Type", "If-None-Match"],
        maxAge: Duration.days(1),
      });
  }

  /** A fixed header value is quoted in API Gateway's mapping, one of the context is not. */
  #answer(responses: Api["responses"]) {
    const map = (value: string) => (value === "$context.requestId" ? "context.requestId" : `'${value}'`);
    for (const [type, { status, headers, body }] of Object.entries(responses))
      this.#rest.addGatewayResponse(type, {
        type: apigateway.ResponseType.of(type),
        ...(status !== undefined && { statusCode: String(status) }),
        responseHeaders: Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, map(value)]),
        ),
        templates: { "application/json": body },
      });
  }

  #meter(stage: string, plans: Api["usagePlans"]) {
    for (const [name, { requestsPerSecond, burst, requestsPerDay }] of Object.entries(plans))
      this.#rest.addUsagePlan(`${name}Plan`, {
        name: `municipal-${stage}-${name}`,
        throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
        quota: { limit: requestsPerDay, period: apigateway.Period.DAY },
        apiStages: [{ stage: this.#rest.deploymentStage }],
      });
  }
}
