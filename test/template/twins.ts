import type { Api } from "../../infra/aws/api.ts";
import { usagePlanName } from "../../infra/aws/stage-names.ts";
import { localStage } from "../../infra/local/dev-file.ts";
import { startGateway as startLocalGateway } from "../../infra/local/gateway/gateway.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";
import type { Invoke } from "../interpreter/authorization.ts";
import { startGateway } from "../interpreter/gateway.ts";
import type { Place } from "../interpreter/identity.ts";
import { findInvocable, type LambdaFunction } from "../interpreter/lambda-function.ts";
import type { RestApi } from "../interpreter/rest-api.ts";

/** Prepared answers instead of the functions, for both gateways. */
export interface Script {
  /** @param fn module of the authorizer, such as `authorizers/basic` */
  authorize(fn: string): Outcome;
  integrate(fn: string): Outcome;
  /** The definition's name of the usage plan of every key. */
  readonly plan: string;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** What one gateway did with a question: all that a caller and the functions notice, without ids and addresses. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The functions that were called, and with what. */
  readonly calls: readonly { readonly fn: string; readonly event: unknown }[];
}

/** The other API's address in a 404, which only a deployment knows. */
export const withoutAddress = (text: string) => text.replace(/(API \([^)]*\) is at )[^"]*/g, "$1(address)");

const withoutIds = (text: string) =>
  withoutAddress(text)
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, "(id)")
    .replace(/127\.0\.0\.1:\d+/g, "(host)");

/** Of the connection, not of the answer. */
const ofConnection = ["connection", "content-length", "date", "keep-alive", "transfer-encoding"];

/** The order of a list, its spaces and the case of its names mean nothing. */
const normalize = (name: string, value: string) =>
  /^access-control-allow-(headers|methods)$/.test(name)
    ? value.toLowerCase().split(/, */).toSorted().join()
    : withoutIds(value);

/** What differs by account and moment is left out of an event; what a function looks at stays. */
const describeEvent = (event: unknown): unknown => {
  const { methodArn: _, requestContext, ...rest } = event as Record<string, unknown>;
  const { httpMethod, resourcePath, authorizer, identity } = requestContext as Record<string, unknown>;
  return JSON.parse(
    withoutIds(
      JSON.stringify({ ...rest, requestContext: { httpMethod, resourcePath, authorizer, identity } }),
    ),
  );
};

/** Starts both readings of one definition, the local gateway and the template's, before one and the same script. */
export const startTwins = async (
  {
    api,
    template,
    functions,
    place,
  }: {
    api: Api;
    template: RestApi;
    functions: readonly LambdaFunction[];
    place: Place;
  },
  script: Script,
) => {
  let calls: { fn: string; event: unknown }[] = [];
  const perform = (fn: string, event: unknown): Outcome => {
    calls.push({ fn, event: describeEvent(event) });
    return fn.startsWith("authorizers/") ? script.authorize(fn) : script.integrate(fn);
  };
  const invoke: Invoke = async (arn, sourceArn, event) => {
    const fn = findInvocable(functions, arn, "apigateway.amazonaws.com", sourceArn);
    return fn ? perform(fn.module, event) : "not permitted";
  };
  const local = await startLocalGateway({
    ...{ api, port: 0 },
    invoke: async (fn, event) => perform(fn, event),
    findPlan: async () => script.plan,
    onAccess: () => {},
  });
  const synthesized = await startGateway({
    ...{ api: template, place, invoke },
    findPlan: async () => usagePlanName(localStage, script.plan),
  });

  const ask = async (url: string, { path, ...init }: Question): Promise<Seen> => {
    calls = [];
    const response = await fetch(`${url}${path}`, init as RequestInit);
    const headers = [...response.headers].filter(([name]) => !ofConnection.includes(name));
    return {
      status: response.status,
      headers: Object.fromEntries(headers.map(([name, value]) => [name, normalize(name, value)])),
      body: withoutIds(await response.text()),
      calls,
    };
  };
  return {
    /** Sends both the same request, one after the other. */
    async ask(question: Question): Promise<{ local: Seen; synthesized: Seen }> {
      return { local: await ask(local.url, question), synthesized: await ask(synthesized.url, question) };
    },
    async stop() {
      await Promise.all([local.stop(), synthesized.stop()]);
    },
  };
};
