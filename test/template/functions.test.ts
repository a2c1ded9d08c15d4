import { randomUUID } from "node:crypto";
import { describe, expect, inject, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { proxyEvent } from "../../infra/local/gateway/event.ts";
import type { Outcome } from "../../infra/local/lambda/environment.ts";
import { readAssembly } from "../interpreter/assembly.ts";
import { place } from "../interpreter/deploy.ts";
import { formStacks } from "../interpreter/formation.ts";
import { type LambdaFunction, readFunctions } from "../interpreter/lambda-function.ts";
import { useOwnCity } from "../steps/city/own-city.ts";

const functions = readFunctions(formStacks(readAssembly(inject("city").assembly ?? ""), place));
const own = useOwnCity();
const deployment = () => own.deployment ?? expect.fail("it is not the templates that serve");

test.each(functions.map((fn) => [fn.module, fn] as const))(
  "%s starts under AWS's runtime client with the settings of the template",
  async (_, fn) => {
    const running = deployment().start(fn);
    expect(await running.prepare()).toBeUndefined();
    await running.stop();
  },
);

test.each([...routes, ...authorizers])(
  "$fn has only its secrets and the systems that it calls in its settings",
  ({ fn }) => {
    const { environment = {} } = functions.find(({ module }) => module === fn) ?? {};
    const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...given } = environment;
    const local = Object.entries(inject("city").variables[fn] ?? {}).filter(
      ([name]) => !/^AWS_|^DATABASE_TLS$/.test(name),
    );
    expect(Object.keys(given).toSorted()).toEqual(local.map(([name]) => name).toSorted());
    expect(given).toMatchObject(Object.fromEntries(local.filter(([name]) => name.endsWith("_SECRET_ID"))));
  },
);

test("the migration of a deployment runs, and each role can log in with its secret", async () => {
  const { secrets } = own.city;
  const role = "municipal/local/database/tourism";
  const credentials = JSON.parse(secrets.find(role)?.value ?? "{}");
  secrets.put(role, JSON.stringify({ ...credentials, password: "another" }));
  expect(await deployment().invoke("migrate", {})).toEqual({ payload: "null" });
  expect((await own.ask("/v1/pariwisata/kategori")).status).toBe(200);
});

describe("only the template decides:", () => {
  const getFunction = (module: string) =>
    functions.find((fn) => fn.module === module) ?? expect.fail(`no function ${module}`);
  const categories = getFunction("tourism/categories");
  const status = getFunction("messaging/message-status");

  /** Calls a function, with a test's changes to the template, for its kind of route. */
  const ask = async (changed: LambdaFunction): Promise<Outcome> => {
    const id = randomUUID();
    const event = proxyEvent(
      {
        ...{ id, method: "GET", path: "/messages/3EB0", query: new URLSearchParams(), headers: [] },
        ...{ sourceIp: "127.0.0.1", receivedAt: Date.now() },
      },
      {
        ...{ body: Buffer.alloc(0), binary: false, resourcePath: "/messages/{id}" },
        authorizer: { sender: "s" },
      },
    );
    const running = deployment().start(changed);
    const outcome = await running.invoke(event, id);
    await running.stop();
    return outcome;
  };
  const statusOf = (outcome: Outcome) => "payload" in outcome && JSON.parse(outcome.payload).statusCode;
  const withVariable = (fn: LambdaFunction, name: string, value?: string): LambdaFunction => {
    const { [name]: _, ...environment } = fn.environment;
    return { ...fn, environment: { ...environment, ...(value !== undefined && { [name]: value }) } };
  };

  test("unchanged, a function answers", async () => expect(statusOf(await ask(categories))).toBe(200));

  test("a variable that it does not contain is missing", async () => {
    expect(statusOf(await ask(withVariable(categories, "DATABASE_SECRET_ID")))).toBe(500);
    expect(own.lines.at(-1)).toContain("DATABASE_SECRET_ID is not set");
  });

  test("a secret that the role may not read is denied", async () => {
    const changed = withVariable(categories, "DATABASE_SECRET_ID", "municipal/local/database/employee");
    expect(statusOf(await ask(changed))).toBe(500);
    expect(own.lines.at(-1)).toContain("AccessDeniedException");
  });

  test("a system is called only at the address that it contains", async () => {
    const reasonOf = async (fn: LambdaFunction) => {
      expect(statusOf(await ask(fn))).toBe(503);
      return own.logged().findLast(({ reason }) => reason !== undefined)?.reason;
    };
    // the messenger's name leads to a closed port in this city
    expect(await reasonOf(status)).toBe("ECONNREFUSED");
    const changed = withVariable(status, "MESSENGER_URL", "http://messenger.invalid:8080");
    expect(await reasonOf(changed)).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
  });

  test("a function times out as it says", async () =>
    expect(await ask({ ...categories, timeoutSeconds: 0 })).toMatchObject({ errorType: "Sandbox.Timedout" }));
});
