import { withoutPageSlash } from "../../infra/local/gateway/event.ts";
import type { Formation, Formed } from "./formation.ts";

/** A header's or a parameter's value as a mapping of API Gateway spells it: `'fixed'` or `context.requestId`. */
type Mapping = Readonly<Record<string, string>>;

interface GatewayResponse {
  /** Undefined: the type's own. */
  readonly status: number | undefined;
  /** By header name. */
  readonly headers: Mapping;
  readonly body: string | undefined;
}

export interface Authorizer {
  readonly id: string;
  readonly functionArn: string;
  /** Headers that must be there, in lower case. */
  readonly identityHeaders: readonly string[];
  readonly cacheSeconds: number;
}

/** A Lambda that is given the whole request. */
interface Proxy {
  readonly kind: "proxy";
  readonly functionArn: string;
  readonly timeoutMs: number;
}

/** An answer defined in the template. */
interface Mock {
  readonly kind: "mock";
  readonly status: number;
  /** By header name. */
  readonly headers: Mapping;
}

interface Throttle {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

export interface Method {
  readonly httpMethod: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly authorizer: Authorizer | undefined;
  readonly keyRequired: boolean;
  readonly integration: Proxy | Mock;
  readonly throttle: Throttle | undefined;
}

interface UsagePlan extends Throttle {
  readonly name: string;
  readonly requestsPerDay: number;
}

/** One REST API as its stage serves it. */
export interface RestApi {
  readonly id: string;
  readonly name: string;
  readonly stage: string;
  readonly methods: readonly Method[];
  /** By API Gateway's response type. */
  readonly responses: ReadonlyMap<string, GatewayResponse>;
  readonly binaryMediaTypes: readonly string[];
  /** The header `x-api-key` names the usage plan's key, or the authorizer does. */
  readonly keySource: "HEADER" | "AUTHORIZER";
  readonly usagePlans: readonly UsagePlan[];
}

const defaultIntegrationTimeoutMs = 29_000;
const defaultCacheSeconds = 300;

const withoutPrefix = (parameters: Mapping = {}, prefix: string): Mapping =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => {
      if (!name.startsWith(prefix)) throw new Error(`the mapping ${name} is not understood`);
      return [name.slice(prefix.length), value];
    }),
  );

/** @throws Error for a URI that is not the one of a Lambda. */
const functionArnOf = (uri: string): string => {
  const arn = /:lambda:path\/2015-03-31\/functions\/(.+)\/invocations$/.exec(uri)?.[1];
  return arn ?? fail(`the integration ${uri} is no Lambda`);
};

const fail = (what: string): never => {
  throw new Error(what);
};

const readAuthorizer = ({ identity, properties }: Formed): Authorizer => {
  const { Type, AuthorizerUri, IdentitySource = "", AuthorizerResultTtlInSeconds } = properties;
  if (Type !== "REQUEST") fail(`an authorizer of type ${Type} is not understood`);
  const sources = String(IdentitySource)
    .split(",")
    .filter((source) => source !== "");
  return {
    id: identity.ref,
    functionArn: functionArnOf(AuthorizerUri),
    identityHeaders: sources.map(
      (source) =>
        /^method\.request\.header\.(.+)$/.exec(source)?.[1]?.toLowerCase() ??
        fail(`the identity source ${source} is not understood`),
    ),
    cacheSeconds: AuthorizerResultTtlInSeconds ?? defaultCacheSeconds,
  };
};

/** API Gateway gives a header only where the method's own responses declare it. */
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
  if (!chosen || !response) return fail(`${id}: the mock integration answers nothing`);
  const declared = MethodResponses.find(
    ({ StatusCode }: { StatusCode: string }) => StatusCode === response.StatusCode,
  );
  const parameters = response.ResponseParameters ?? {};
  for (const name of Object.keys(parameters))
    if (!(name in (declared?.ResponseParameters ?? {})))
      fail(`${id}: ${name} is mapped, but no response of the method declares it`);
  return {
    kind: "mock",
    status: Number(response.StatusCode),
    headers: withoutPrefix(parameters, "method.response.header."),
  };
};

const readIntegration = (method: Formed): Proxy | Mock => {
  const { Type, Uri, IntegrationHttpMethod, TimeoutInMillis } = method.properties.Integration;
  if (Type === "MOCK") return readMock(method);
  if (Type !== "AWS_PROXY") fail(`${method.id}: an integration of type ${Type} is not understood`);
  if (IntegrationHttpMethod !== "POST") fail(`${method.id}: a Lambda is invoked by POST only`);
  return {
    kind: "proxy",
    functionArn: functionArnOf(Uri),
    timeoutMs: TimeoutInMillis ?? defaultIntegrationTimeoutMs,
  };
};

interface MethodSetting {
  readonly HttpMethod: string;
  readonly ResourcePath: string;
  readonly ThrottlingRateLimit?: number;
  readonly ThrottlingBurstLimit?: number;
}

/** A method's own setting overrides the common one. In settings, `~1` is a slash within a path. */
const findThrottle = (settings: readonly MethodSetting[], httpMethod: string, path: string) => {
  const own = ({ HttpMethod, ResourcePath }: MethodSetting) =>
    HttpMethod === httpMethod && ResourcePath.replace(/^\//, "").replaceAll("~1", "/") === path;
  const all = ({ HttpMethod, ResourcePath }: MethodSetting) => HttpMethod === "*" && ResourcePath === "/*";
  const setting = settings.find(own) ?? settings.find(all);
  return setting?.ThrottlingRateLimit === undefined
    ? undefined
    : { requestsPerSecond: setting.ThrottlingRateLimit, burst: setting.ThrottlingBurstLimit ?? 0 };
};

const readResponse = ({ properties }: Formed): [string, GatewayResponse] => {
  const { ResponseType, StatusCode, ResponseParameters, ResponseTemplates = {} } = properties;
  return [
    ResponseType,
    {
      status: StatusCode === undefined ? undefined : Number(StatusCode),
      headers: withoutPrefix(ResponseParameters, "gatewayresponse.header."),
      body: ResponseTemplates["application/json"],
    },
  ];
};

const readPlan = ({ properties: { UsagePlanName, Throttle, Quota } }: Formed): UsagePlan => {
  if (Quota && Quota.Period !== "DAY")
    fail(`${UsagePlanName}: a quota for a ${Quota.Period} is not understood`);
  return {
    name: UsagePlanName,
    requestsPerSecond: Throttle?.RateLimit ?? Number.POSITIVE_INFINITY,
    burst: Throttle?.BurstLimit ?? Number.POSITIVE_INFINITY,
    requestsPerDay: Quota?.Limit ?? Number.POSITIVE_INFINITY,
  };
};

/**
 * The REST APIs that the stacks make, as API Gateway would serve them.
 *
 * @throws Error for what API Gateway would refuse or leave out, and for what is not understood here.
 */
export const readRestApis = (formation: Formation): RestApi[] =>
  formation.list("AWS::ApiGateway::RestApi").map(({ identity, properties }) => {
    const id = identity.ref;
    const own = (type: string) =>
      formation.list(`AWS::ApiGateway::${type}`).filter((formed) => formed.properties.RestApiId === id);
    const [stage] = own("Stage");
    const deployment = own("Deployment").find(
      ({ identity: { ref } }) => ref === stage?.properties.DeploymentId,
    );
    if (!stage || !deployment) return fail(`the API ${properties.Name} has no deployed stage`);

    /** A deployment is a snapshot: resources created after it would be missing. */
    const deployed = (type: string) =>
      own(type).map((formed) =>
        deployment.dependsOn.includes(formed.id)
          ? formed
          : fail(`the deployment does not wait for ${formed.id}`),
      );

    const resources = new Map(deployed("Resource").map((formed) => [formed.identity.ref, formed.properties]));
    const pathOf = (resourceId: string): string => {
      if (resourceId === identity.attribute("RootResourceId")) return "";
      const resource = resources.get(resourceId) ?? fail(`the resource ${resourceId} is not there`);
      return `${pathOf(resource.ParentId)}/${resource.PathPart}`;
    };
    const authorizers = new Map(
      own("Authorizer").map((formed) => [formed.identity.ref, readAuthorizer(formed)]),
    );

    const readMethod = (method: Formed): Method => {
      const {
        HttpMethod,
        ResourceId,
        AuthorizationType,
        AuthorizerId,
        ApiKeyRequired = false,
      } = method.properties;
      const path = pathOf(ResourceId) || "/";
      const { Type, ContentHandling } = method.properties.Integration;
      if (
        Type === "MOCK" &&
        properties.BinaryMediaTypes?.includes("*/*") &&
        ContentHandling !== "CONVERT_TO_TEXT"
      )
        fail(`${method.id}: a mock whose request is binary answers 500`);
      const authorizer = authorizers.get(AuthorizerId);
      if (AuthorizationType !== "NONE" && !(AuthorizationType === "CUSTOM" && authorizer))
        fail(`${method.id}: the authorization ${AuthorizationType} is not understood`);
      return {
        httpMethod: HttpMethod,
        path,
        authorizer,
        keyRequired: ApiKeyRequired,
        integration: readIntegration(method),
        throttle: findThrottle(stage.properties.MethodSettings ?? [], HttpMethod, path),
      };
    };

    return {
      id,
      name: properties.Name,
      stage: stage.properties.StageName,
      methods: deployed("Method").map(readMethod),
      responses: new Map(deployed("GatewayResponse").map(readResponse)),
      binaryMediaTypes: properties.BinaryMediaTypes ?? [],
      keySource: properties.ApiKeySourceType ?? "HEADER",
      usagePlans: formation
        .list("AWS::ApiGateway::UsagePlan")
        .filter(({ properties: { ApiStages = [] } }) =>
          ApiStages.some(
            (of: { ApiId: string; Stage: string }) => of.ApiId === id && of.Stage === stage.identity.ref,
          ),
        )
        .map(readPlan),
    };
  });

const segmentsOf = (path: string) => path.split("/").slice(1);

/** A last segment such as `{path+}` takes all further ones of a request. */
const foldRest = (wanted: readonly string[], given: readonly string[]): readonly string[] => {
  const last = wanted.length - 1;
  if (!wanted[last]?.endsWith("+}") || given.length <= last) return given;
  return [...given.slice(0, last), given.slice(last).join("/")];
};

/** How exactly a path segment of a resource matches one of a request: lower wins. */
const rank = (wanted: string | undefined, given: string | undefined): number | undefined => {
  if (wanted === undefined || given === undefined) return undefined;
  if (wanted === given) return 0;
  return /^\{\w+\+?\}$/.test(wanted) && given !== "" ? 1 : undefined;
};

/**
 * The method that a request reaches: of several resources that match, the one that is most exact at the first
 * segment where they differ. Undefined for an unknown path or another method.
 */
export const findMethod = ({ methods }: RestApi, httpMethod: string, path: string): Method | undefined => {
  const matching = methods.flatMap((method) => {
    const wanted = segmentsOf(method.path);
    const given = foldRest(wanted, segmentsOf(withoutPageSlash(method.path, path)));
    const ranks = given.map((segment, i) => rank(wanted[i], segment));
    return wanted.length === given.length && !ranks.includes(undefined)
      ? [{ method, order: ranks.join("") }]
      : [];
  });
  const [first] = matching.toSorted((a, b) => a.order.localeCompare(b.order));
  const resource = matching.filter(({ order }) => order === first?.order).map(({ method }) => method);
  return (
    resource.find((method) => method.httpMethod === httpMethod) ??
    resource.find((method) => method.httpMethod === "ANY")
  );
};
