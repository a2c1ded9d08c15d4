import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { ApiError } from "#lib/errors/api-error.ts";
import { listFaults, rowOf } from "#lib/openapi/errors.ts";
import { routes } from "#lib/routes/index.ts";
import type { Route } from "#lib/routes/route.ts";
import type { Finding } from "./finding.ts";
import { type GeneratedRequest, requestTo } from "./request.ts";
import { apiOf, credentialOf, type Line, openLine, type Reaction, type Target } from "./target.ts";

/** Faults of 500 and above that a working system answers: the contract's 500 for a boundary, and a full messenger. */
const allowedFailures = ["badBoundary", "overloaded"];

/** Status and code of every answer that a route may give while everything behind it works. */
const listAllowed = (route: Route): Set<string> => {
  const answers = listFaults(route)
    .map((name) => ({ name, row: rowOf(name, route) }))
    .filter(({ name, row }) => row.status < 500 || allowedFailures.includes(name))
    .map(({ row }) => `${row.status} ${route.errors.body(new ApiError(row), "").code}`);
  return new Set(answers);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The pages and files of the documentation are no JSON, but for the OpenAPI document. */
const isPlain = ({ fn }: Route, { headers, text }: Reaction): boolean =>
  fn === "docs/openapi"
    ? text.includes('"openapi": "3.1')
    : !String(headers["content-type"]).startsWith("application/json");

/** @returns why an answer is not one that the route documents; undefined if it is. */
const judge = (route: Route, allowed: ReadonlySet<string>, reaction: Reaction): string | undefined => {
  const { status, text } = reaction;
  const body = parse(text);
  const isDocumentation = route.fn.startsWith("docs/");
  // a page with a slash at its end redirects
  if (status === 200 || (status === 308 && isDocumentation)) {
    const isReply = isDocumentation ? isPlain(route, reaction) : route.reply.safeParse(body).success;
    return isReply ? undefined : `a ${status} without the documented body`;
  }
  const { code } = (body ?? {}) as { code?: unknown };
  if (!route.errors.schema.safeParse(body).success) return `a ${status} without the documented body`;
  return allowed.has(`${status} ${code}`) ? undefined : `${status} ${code} is not documented`;
};

/** A request without its credential, short enough to read. */
const show = ({ method, path, headers, body }: GeneratedRequest): string =>
  `${method} ${path} ${fc.stringify(headers)} ${fc.stringify(body?.toString())}`.slice(0, 600);

const maxWaitSeconds = 5;

export interface Effort {
  /** Inputs for each route. */
  readonly inputs: number;
  /** The same seed generates the same inputs. */
  readonly seed: number;
}

const attackRoute = async (
  route: Route,
  line: Line,
  target: Target,
  { inputs, seed }: Effort,
): Promise<Finding> => {
  const about = `inputs of ${route.method} ${route.path}`;
  const allowed = listAllowed(route);
  const credential = credentialOf(target, route.auth.kind) ?? {};
  const send = async (request: GeneratedRequest): Promise<Reaction> => {
    for (;;) {
      await target.pace();
      const headers = request.introduced ? { ...request.headers, ...credential } : request.headers;
      const reaction = await line.send({ ...request, headers });
      const wait = Number(reaction.headers["retry-after"]);
      if (reaction.status !== 429 || target.city || !(wait <= maxWaitSeconds)) return reaction;
      await pause(wait * 1_000);
    }
  };
  const property = fc.asyncProperty(requestTo(route), async (request) => {
    const reason = await send(request).then(
      (reaction) => judge(route, allowed, reaction),
      (error: Error & { code?: string }) => `no answer (${error.code ?? error.name})`,
    );
    if (reason !== undefined) throw new Error(reason);
  });
  const { failed, numRuns, counterexample, errorInstance } = await fc.check(property, {
    numRuns: inputs,
    seed,
  });
  const [request] = counterexample ?? [];
  const reason = errorInstance instanceof Error ? errorInstance.message : "";
  return { about, tried: numRuns, fell: failed && request ? [`${reason}: ${show(request)}`] : [] };
};

/** Not sent to a system that would deliver the messages. */
const isDelivering = ({ method, auth }: Route) => auth.kind === "basic" && method === "POST";

/** Sends generated inputs to every route. Whatever is sent, the answer is a documented one, and not a failure. */
export const attackInputs = async (target: Target, effort: Effort): Promise<Finding[]> => {
  const attacked = routes.filter((route) => target.city || !isDelivering(route));
  const lines = {
    integration: openLine(target.unlimited.integration),
    messaging: openLine(target.unlimited.messaging),
  };
  const findings = attacked.map((route) => attackRoute(route, lines[apiOf(route).name], target, effort));
  return Promise.all(findings).finally(() =>
    Promise.all([lines.integration.close(), lines.messaging.close()]),
  );
};
