import type { GatewayResponse, UsagePlan } from "../../infra/aws/api.ts";
import { usagePlanName } from "../../infra/aws/stage-names.ts";
import type { Authorizer, Method, Mock, RestApi } from "../../infra/local/gateway/rest-api.ts";
import type { Formation, Formed } from "./formation.ts";
import { findInvocable, type LambdaFunction } from "./lambda-function.ts";

/** Values of headers as a mapping of API Gateway has them: `'fixed'` or `context.requestId`. */
type Mapping = Readonly<Record<string, string>>;

/** API Gateway's defaults. */
const defaultTimeoutMs = 29_000;
const defaultCacheSeconds = 300;

const fail = (what: string): never => {
  throw new Error(what);
};

const mapped = (value: string): string =>
  value === "context.requestId"
    ? "$context.requestId"
    : (/^'(.*)'$/s.exec(value)?.[1] ?? fail(`the mapping ${value} is not understood`));

/** The headers of a mapping. @param prefix of each name. */
const readHeaders = (parameters: Mapping = {}, prefix: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      if (!name.startsWith(prefix)) return fail(`the mapping ${name} is not understood`);
      return [name.slice(prefix.length).toLowerCase(), mapped(value)];
    }),
  );

/** API Gateway sends a header only if the method's own responses declare it. */
const readMock = ({ id, properties: { Integration, MethodResponses = [] } }: Formed): Mock => {
  const chosen = /^\{\s*"?statusCode"?\s*:\s*(\d{3})\s*\}$/.exec(
    Integration.RequestTemplates?.["application/json"] ?? "",
  )?.[1];
  const responses: { StatusCode: string; SelectionPattern?: string; ResponseParameters?: Mapping }[] =
    Integration.IntegrationResponses ?? [];
  const response =
    responses.find(
      ({ SelectionPattern }) => SelectionPattern && new RegExp(SelectionPattern).test(chosen ?? ""),
    ) ?? responses.find(({ SelectionPattern }) => !SelectionPattern);
  if (!chosen || !response) return fail(`${id}: the mock integration has no response`);
  const declared = MethodResponses.find(
    ({ StatusCode }: { StatusCode: string }) => StatusCode === response.StatusCode,
  );
  const parameters = response.ResponseParameters ?? {};
  for (const name of Object.keys(parameters))
    if (!(name in (declared?.ResponseParameters ?? {})))
      fail(`${id}: ${name} is mapped, but no response of the method declares it`);
  return {
    status: Number(response.StatusCode),
    headers: readHeaders(parameters, "method.response.header."),
  };
};

interface MethodSetting {
  readonly HttpMethod: string;
  readonly ResourcePath: string;
  readonly ThrottlingRateLimit: number;
  readonly ThrottlingBurstLimit: number;
}

/** A method's own setting overrides the common one. In settings, `~1` is a slash within a path. */
const readThrottle = (settings: readonly MethodSetting[], httpMethod: string, path: string) => {
  const own = ({ HttpMethod, ResourcePath }: MethodSetting) =>
    HttpMethod === httpMethod && ResourcePath.replace(/^\//, "").replaceAll("~1", "/") === path;
  const all = ({ HttpMethod, ResourcePath }: MethodSetting) => HttpMethod === "*" && ResourcePath === "/*";
  const setting = settings.find(own) ?? settings.find(all) ?? fail(`${path} has no throttle`);
  return { requestsPerSecond: setting.ThrottlingRateLimit, burst: setting.ThrottlingBurstLimit };
};

const readResponse = ({ properties }: Formed): [string, GatewayResponse] => {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } = properties;
  const body: string = ResponseTemplates["application/json"];
  for (const [variable] of body.matchAll(/\$[\w.]+/g))
    if (variable !== "$context.requestId") fail(`the variable ${variable} is not understood`);
  const headers = readHeaders(ResponseParameters, "gatewayresponse.header.");
  return [ResponseType, { ...(StatusCode && { status: Number(StatusCode) }), headers, body }];
};

const readPlan = (stage: string, { properties }: Formed): [string, UsagePlan] => {
  const { UsagePlanName, Throttle, Quota } = properties;
  const prefix = usagePlanName(stage, "");
  if (!UsagePlanName.startsWith(prefix) || Quota.Period !== "DAY")
    fail(`the usage plan ${UsagePlanName} is not understood`);
  const rate = { requestsPerSecond: Throttle.RateLimit, burst: Throttle.BurstLimit };
  return [UsagePlanName.slice(prefix.length), { ...rate, requestsPerDay: Quota.Limit }];
};

/**
 * Describes the REST API of a name that the stacks make, as API Gateway would serve its stage.
 *
 * @throws Error for what API Gateway would reject or leave out, and for what is not understood here.
 */
export const readRestApi = (
  formation: Formation,
  functions: readonly LambdaFunction[],
  apiName: string,
): RestApi => {
  const api =
    formation.list("AWS::ApiGateway::RestApi").find(({ properties }) => properties.Name === apiName) ??
    fail(`the templates have no API ${apiName}`);
  const { ApiKeySourceType, BinaryMediaTypes = [] } = api.properties;
  if (ApiKeySourceType !== "AUTHORIZER") fail(`a key from the ${ApiKeySourceType} is not understood`);
  const { account, region } = formation.place;
  const apiArn = `arn:aws:execute-api:${region}:${account}:${api.identity.ref}`;
  const own = (type: string) =>
    formation
      .list(`AWS::ApiGateway::${type}`)
      .filter((formed) => formed.properties.RestApiId === api.identity.ref);
  const [stage] = own("Stage");
  const deployment = own("Deployment").find(
    ({ identity: { ref } }) => ref === stage?.properties.DeploymentId,
  );
  if (!stage || !deployment) return fail(`the API ${apiName} has no deployed stage`);
  const { StageName, MethodSettings = [] } = stage.properties;

  /** A deployment is a snapshot: resources created after it would be missing. */
  const deployed = (type: string) =>
    own(type).map((formed) =>
      deployment.dependsOn.includes(formed.id)
        ? formed
        : fail(`the deployment does not wait for ${formed.id}`),
    );

  const resources = new Map(deployed("Resource").map((formed) => [formed.identity.ref, formed.properties]));
  const pathOf = (resourceId: string): string => {
    if (resourceId === api.identity.attribute("RootResourceId")) return "";
    const resource = resources.get(resourceId) ?? fail(`there is no resource ${resourceId}`);
    return `${pathOf(resource.ParentId)}/${resource.PathPart}`;
  };

  /** The module of the function that a part of the API calls. */
  const moduleOf = (uri: string, caller: string): string => {
    const arn = /:lambda:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(uri)?.[1];
    if (!arn) return fail(`the integration ${uri} is no Lambda function`);
    const fn = findInvocable(functions, arn, "apigateway.amazonaws.com", `${apiArn}/${caller}`);
    return fn?.module ?? fail(`${caller} has no permission to call ${arn}`);
  };

  const readAuthorizer = ({ identity, properties }: Formed): Authorizer => {
    const { Type, AuthorizerUri, IdentitySource, AuthorizerResultTtlInSeconds } = properties;
    if (Type !== "REQUEST") fail(`an authorizer of type ${Type} is not understood`);
    return {
      fn: moduleOf(AuthorizerUri, `authorizers/${identity.ref}`),
      identityHeaders: IdentitySource.split(",").map(
        (source: string) =>
          /^method\.request\.header\.(.+)$/.exec(source)?.[1]?.toLowerCase() ??
          fail(`the identity source ${source} is not understood`),
      ),
      cacheSeconds: AuthorizerResultTtlInSeconds ?? defaultCacheSeconds,
    };
  };
  const authorizers = new Map(
    own("Authorizer").map((formed) => [formed.identity.ref, readAuthorizer(formed)]),
  );

  const readIntegration = (formed: Formed, caller: string): Method["integration"] => {
    const { Type, Uri, IntegrationHttpMethod, TimeoutInMillis, ContentHandling } =
      formed.properties.Integration;
    if (Type === "MOCK") {
      if (BinaryMediaTypes.includes("*/*") && ContentHandling !== "CONVERT_TO_TEXT")
        fail(`${formed.id}: a mock whose request is binary answers 500`);
      return readMock(formed);
    }
    if (Type !== "AWS_PROXY") fail(`${formed.id}: an integration of type ${Type} is not understood`);
    if (IntegrationHttpMethod !== "POST") fail(`${formed.id}: a function is invoked by POST only`);
    return { fn: moduleOf(Uri, caller), timeoutMs: TimeoutInMillis ?? defaultTimeoutMs };
  };

  const readMethod = (formed: Formed): Method => {
    const { HttpMethod, ResourceId, AuthorizationType, AuthorizerId, ApiKeyRequired } = formed.properties;
    const path = pathOf(ResourceId) || "/";
    const authorizer = authorizers.get(AuthorizerId);
    if (AuthorizationType !== "NONE" && !(AuthorizationType === "CUSTOM" && authorizer))
      fail(`${formed.id}: the authorization ${AuthorizationType} is not understood`);
    return {
      httpMethod: HttpMethod,
      path,
      authorizer,
      keyRequired: ApiKeyRequired ?? false,
      throttle: readThrottle(MethodSettings, HttpMethod, path),
      integration: readIntegration(formed, `${StageName}/${HttpMethod}${path}`),
    };
  };

  const isOfStage = ({ properties: { ApiStages = [] } }: Formed) =>
    ApiStages.some(
      ({ ApiId, Stage }: { ApiId: string; Stage: string }) =>
        ApiId === api.identity.ref && Stage === stage.identity.ref,
    );
  return {
    methods: deployed("Method").map(readMethod),
    responses: Object.fromEntries(deployed("GatewayResponse").map(readResponse)),
    binaryMediaTypes: BinaryMediaTypes,
    usagePlans: Object.fromEntries(
      formation
        .list("AWS::ApiGateway::UsagePlan")
        .filter(isOfStage)
        .map((formed) => readPlan(StageName, formed)),
    ),
  };
};
