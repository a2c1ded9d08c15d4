import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import type { Authorizer } from "#lib/routes/authorizer.ts";
import { methodsOf, type Route } from "#lib/routes/route.ts";
import { planCapacity, withCapacity } from "../../infra/aws/capacity.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { messagingApi } from "../../infra/aws/messaging-api.ts";
import { usagePlanName } from "../../infra/aws/stage-names.ts";
import { localStage } from "../../infra/local/dev-file.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";
import { readAssembly } from "../interpreter/assembly.ts";
import { place } from "../interpreter/deploy.ts";
import { formStacks } from "../interpreter/formation.ts";
import { readFunctions } from "../interpreter/lambda-function.ts";
import { readRestApis } from "../interpreter/rest-api.ts";
import { size } from "../interpreter/synth.ts";
import { type Question, type Script, type Seen, startTwins, withoutAddress } from "./twins.ts";

const formation = formStacks(readAssembly(inject("city").assembly ?? ""), place);
const functions = readFunctions(formation);
const templates = readRestApis(formation);

const payload = (value: unknown): Outcome => ({ payload: JSON.stringify(value) });
const policy = (effect: string, resource = "*", more = {}): Outcome =>
  payload({
    principalId: "p",
    policyDocument: { Statement: [{ Effect: effect, Action: "execute-api:Invoke", Resource: resource }] },
    context: { sender: "s" },
    usageIdentifierKey: "key",
    ...more,
  });
const failure = (errorMessage: string, errorType = "Error"): Outcome => ({ errorMessage, errorType });

const methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];

const capacity = planCapacity(size);
const apis = [integrationApi, messagingApi].map((api) => withCapacity(api, capacity));

describe.each(apis)("the $name API", (api) => {
  const name = `municipal-${localStage}-${api.name}`;
  const template = templates.find((candidate) => candidate.name === name);
  if (!template) throw new Error(`the templates have no API ${name}`);
  const getFunction = (arn: string) =>
    functions.find((candidate) => candidate.arn === arn) ?? expect.fail(`no function ${arn}`);
  const guarded = api.routes.filter(({ auth }) => auth.kind !== "public");
  const pathOf = ({ path }: Pick<Route, "path">) => path.replace(/\{\w+\+?\}/g, "a%20b");
  const placeOf = (row: { method: string; path: string }) => `${row.method} ${row.path}`;

  describe("has in the template what the definition says", () => {
    const limitsOf = ({ timeoutSeconds, memoryMb }: { timeoutSeconds: number; memoryMb: number }) => ({
      timeoutSeconds,
      memoryMb,
    });

    test("of each route: function, authorizer, key, limits", () => {
      const synthesized = template.methods.flatMap(({ httpMethod, path, integration, ...method }) => {
        if (integration.kind === "mock") return [];
        const fn = getFunction(integration.functionArn);
        const { authorizer, keyRequired, throttle } = method;
        const guard = authorizer && getFunction(authorizer.functionArn).module;
        const at = placeOf({ method: httpMethod, path });
        return [{ at, fn: fn.module, guard, keyRequired, throttle, ...limitsOf(fn) }];
      });
      const defined = api.routes.flatMap((route) =>
        methodsOf(route).map((method) => ({
          at: placeOf({ ...route, method }),
          fn: route.fn,
          guard: api.authorizers.find(({ kind }) => kind === route.auth.kind)?.fn,
          keyRequired: route.auth.kind === "apiKey",
          throttle: route.throttle ?? api.throttle,
          ...limitsOf(route),
        })),
      );
      const byPlace = (a: { at: string }, b: { at: string }) => a.at.localeCompare(b.at);
      expect(synthesized.toSorted(byPlace)).toEqual(defined.toSorted(byPlace));
    });

    test("of each authorizer: function, identity, cache, limits", () => {
      const used = new Set(template.methods.flatMap(({ authorizer }) => authorizer ?? []));
      const synthesized = [...used].map(({ functionArn, identityHeaders, cacheSeconds }) => {
        const fn = getFunction(functionArn);
        return { fn: fn.module, identityHeaders, cacheSeconds, ...limitsOf(fn) };
      });
      const defined = api.authorizers.map((authorizer) => ({
        fn: authorizer.fn,
        identityHeaders: authorizer.identityHeaders,
        cacheSeconds: authorizer.cacheSeconds,
        ...limitsOf(authorizer),
      }));
      expect(new Set(synthesized)).toEqual(new Set(defined));
    });

    test("of each answer without a function: status, headers, text", () => {
      const synthesized = [...template.responses].map(([type, { status, headers, body }]) => {
        const values = Object.entries(headers).map(([header, mapping]) => [
          header,
          mapping === "context.requestId" ? "$context.requestId" : mapping.slice(1, -1),
        ]);
        return [type, { status, headers: Object.fromEntries(values), body: withoutAddress(body ?? "") }];
      });
      const defined = Object.entries(api.responses).map(([type, response]) => [
        type,
        { ...response, body: withoutAddress(response.body) },
      ]);
      expect(Object.fromEntries(synthesized)).toEqual(Object.fromEntries(defined));
    });

    test("of each usage plan: rate, burst, quota", () => {
      const defined = Object.entries(api.usagePlans).map(([plan, limits]) => ({
        name: usagePlanName(localStage, plan),
        ...limits,
      }));
      expect(new Set(template.usagePlans)).toEqual(new Set(defined));
    });

    test.each<Route | Authorizer>([...api.routes, ...api.authorizers])(
      "of the settings of $fn: only its secrets and the systems that it calls",
      ({ fn }) => {
        const { environment = {} } = functions.find((candidate) => candidate.module === fn) ?? {};
        const { variables } = inject("city");
        const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...given } = environment;
        const own = (of: Record<string, string>) =>
          Object.entries(of).filter(([variable]) => !/^AWS_|^DATABASE_TLS$/.test(variable));
        const isSecret = ([variable]: [string, string]) => variable.endsWith("_SECRET_ID");
        expect(Object.keys(given).toSorted()).toEqual(
          own(variables[fn] ?? {})
            .map(([key]) => key)
            .toSorted(),
        );
        expect(new Map(own(given).filter(isSecret))).toEqual(
          new Map(own(variables[fn] ?? {}).filter(isSecret)),
        );
      },
    );

    test("and gives no function more time than the gateway waits", () => {
      for (const { integration } of template.methods)
        if (integration.kind === "proxy")
          expect(getFunction(integration.functionArn).timeoutSeconds * 1_000).toBeLessThan(
            integration.timeoutMs,
          );
    });
  });

  describe("behaves like the local gateway in front of the same functions:", () => {
    const script = {} as { -readonly [K in keyof Script]: Script[K] };
    let twins: Awaited<ReturnType<typeof startTwins>>;
    let count = 0;

    beforeAll(async () => {
      twins = await startTwins({ api, template, functions, place }, script);
    });
    afterAll(() => twins.stop());
    beforeEach(() => {
      script.plan = "standard";
      script.authorize = () => policy("Allow");
      script.integrate = () =>
        payload({
          statusCode: 201,
          headers: { "x-one": "1" },
          multiValueHeaders: { "x-two": ["2"] },
          body: "{}",
        });
    });

    /** Sends both a request, without cached policies. @returns the answer of the local one. */
    const compare = async (question: Question): Promise<Seen> => {
      const { local, synthesized } = await twins.ask(question);
      expect(synthesized).toEqual(local);
      return local;
    };
    const fresh = () => {
      count += 1;
      return { authorization: `a${count}`, apikey: `k${count}` };
    };

    test.each([...new Set(api.routes.map(pathOf))])("%s, by any method", async (path) => {
      for (const method of methods)
        for (const headers of [{}, fresh()]) await compare({ method, path, headers });
    });

    test.each([...new Set(api.routes.map(pathOf))])("addresses beside %s", async (path) => {
      const [, first = ""] = path.split("/");
      const beside = [`${path}?a=1&a=2&b=%2B`, `${path}/`, `${path}/x`, `/x${path}`, `/${path}`];
      for (const address of [...beside, path.toUpperCase(), "/", `/${first}`, `/${first}/`])
        for (const method of ["GET", "POST"]) await compare({ method, path: address, headers: fresh() });
    });

    test.each<[string, Outcome]>([
      ["refuses", failure("Unauthorized")],
      ["fails", failure("Something else")],
      ["runs out of time", failure("Task timed out", "Sandbox.Timedout")],
      ["says nothing", payload(null)],
      ["names no principal", policy("Allow", "*", { principalId: "" })],
      ["denies", policy("Deny")],
      ["allows another address", policy("Allow", "arn:aws:execute-api:*/GET/other")],
      ["names no key", policy("Allow", "*", { usageIdentifierKey: undefined })],
    ])("an authorizer that %s", async (_, outcome) => {
      script.authorize = () => outcome;
      for (const route of guarded)
        await compare({ method: route.method, path: pathOf(route), headers: fresh() });
    });

    test.each<[string, Outcome]>([
      ["fails", failure("boom")],
      ["runs out of time", failure("Task timed out", "Sandbox.Timedout")],
      ["has no status", payload({ body: "x" })],
      ["has an object as body", payload({ statusCode: 200, body: {} })],
      ["says nothing", payload(null)],
      ["says too much", payload({ statusCode: 200, body: "x".repeat(7_000_000) })],
      ["has no body", payload({ statusCode: 204 })],
      ["challenges", payload({ statusCode: 401, headers: { "WWW-Authenticate": "Basic" }, body: "" })],
      ["has bytes", payload({ statusCode: 200, isBase64Encoded: true, body: "AP8=" })],
    ])("a function that %s", async (_, outcome) => {
      script.integrate = () => outcome;
      for (const accept of ["*/*", "multipart/form-data, */*"])
        for (const route of api.routes)
          await compare({ method: route.method, path: pathOf(route), headers: { ...fresh(), accept } });
    });

    test("a key with an unknown plan", async () => {
      script.plan = "gone";
      for (const route of guarded)
        await compare({ method: route.method, path: pathOf(route), headers: fresh() });
    });

    test.each([
      ["nothing", ""],
      ["text", "hällo"],
      ["bytes", Buffer.from([0, 255, 128, 10])],
      ["7 MB", "a".repeat(7 * 1024 * 1024)],
      ["11 MB", "a".repeat(11 * 1024 * 1024)],
    ])("a body of %s, of a binary type or another", async (_, body) => {
      const { path } =
        api.routes.find(({ method }) => method === "POST") ?? expect.fail("no route takes a body");
      for (const type of ["application/json", "Multipart/Form-Data; boundary=x", "application/octet-stream"])
        await compare({ method: "POST", path, headers: { ...fresh(), "content-type": type }, body });
    });

    test.each(guarded.map((route) => [placeOf(route), route] as const))(
      "%s asks its authorizer again at the same second",
      async (_, route) => {
        vi.useFakeTimers({ toFake: ["Date"] });
        onTestFinished(() => void vi.useRealTimers());
        const { cacheSeconds = 0 } = api.authorizers.find(({ kind }) => kind === route.auth.kind) ?? {};
        const headers = fresh();
        const asked: number[] = [];
        for (const passed of [0, 0, Math.max(0, cacheSeconds - 1), 2, 0]) {
          vi.setSystemTime(Date.now() + passed * 1_000);
          const { calls } = await compare({ method: route.method, path: pathOf(route), headers });
          asked.push(calls.length);
        }
        expect(asked).toEqual(cacheSeconds > 0 ? [2, 1, 1, 2, 1] : [2, 2, 2, 2, 2]);
      },
    );

    if (!("trial" in api.usagePlans)) return;
    test("a plan's burst ends at the same request", async () => {
      vi.useFakeTimers({ toFake: ["Date"] });
      onTestFinished(() => void vi.useRealTimers());
      script.plan = "trial";
      script.authorize = () => policy("Allow", "*", { usageIdentifierKey: "tried" });
      const route = guarded.find(({ auth }) => auth.kind === "apiKey") ?? expect.fail("no route takes a key");
      const statuses: number[] = [];
      for (let asked = 0; asked < 12; asked += 1)
        statuses.push(
          (await compare({ method: route.method, path: pathOf(route), headers: fresh() })).status,
        );
      expect(statuses).toEqual([...Array(10).fill(201), 429, 429]);
    });
  });
});
