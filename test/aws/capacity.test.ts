import { describe, expect, test } from "vitest";
import { type LoginRole, loginRoles } from "#lib/db/roles.ts";
import { messengerPools } from "#lib/messenger/pools.ts";
import { routes } from "#lib/routes/index.ts";
import { operatorConnections, planCapacity, withCapacity } from "../../infra/aws/capacity.ts";
import { examples } from "../../infra/aws/config.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { listFunctions } from "../../infra/build/build.ts";
import { composeWith, synthesizeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

/** Of a db.t4g.micro, a stage of Aurora with two units, and one with eight. */
const sizes = [
  { connections: 94, functionConcurrency: 300 },
  { connections: 94, functionConcurrency: 300, messengerTasks: 2 },
  { connections: 376, functionConcurrency: 100 },
  { connections: 1_504, functionConcurrency: 300 },
];
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

describe.each(sizes)("of $connections connections", (size) => {
  const capacity = planCapacity(size);

  test("operators and the server keep theirs when each role has all of its own", () => {
    expect(sum(Object.values(capacity.roles))).toBeLessThanOrEqual(
      size.connections - operatorConnections - 8,
    );
    expect(Object.keys(capacity.roles).toSorted()).toEqual(Object.keys(loginRoles).toSorted());
  });

  test("no function has more environments than its role has connections", () => {
    for (const { fn, secrets } of routes) {
      const [, role] = secrets.DATABASE_SECRET_ID?.split("/") ?? [];
      const limit = role === undefined ? undefined : capacity.roles[role as LoginRole];
      const reserved = capacity.reserved.get(fn);
      expect([fn, reserved !== undefined && reserved >= 1 && reserved <= (limit ?? 0)]).toEqual([
        fn,
        role !== undefined,
      ]);
    }
  });

  test("all requests that the throttles let through at once find an environment", () => {
    const fitted = withCapacity(integrationApi, capacity).routes;
    const limited = fitted.filter(({ fn }) => capacity.reserved.has(fn));
    const using = fitted.filter(({ secrets }) => "DATABASE_SECRET_ID" in secrets);
    expect(limited.map(({ fn }) => fn)).toEqual(using.map(({ fn }) => fn));
    for (const { fn, throttle } of limited) {
      const burst = throttle?.burst ?? Number.POSITIVE_INFINITY;
      expect([fn, burst <= (capacity.reserved.get(fn) ?? 0)]).toEqual([fn, true]);
    }
  });

  test("one address can take at most a fifth of the rate of a route with a key", () => {
    const { routes: fitted, firewall } = withCapacity(integrationApi, capacity);
    const rate = fitted.find(({ fn }) => fn === "resident/list")?.throttle?.requestsPerSecond ?? 1_000;
    for (const { requestsPerMinute } of firewall.perAddress.limits)
      expect(requestsPerMinute).toBeLessThanOrEqual(60 * 0.2 * rate);
  });
});

test("each messenger has all connections of its pools, also while a deployment replaces them one by one", () => {
  const { console, ...own } = messengerPools;
  for (const messengerTasks of [1, 2, 3]) {
    const { roles } = planCapacity({ connections: 188, functionConcurrency: 300, messengerTasks });
    expect(roles.messenger).toBe((messengerTasks + 1) * sum(Object.values(own)));
    expect(roles.console).toBe((messengerTasks + 1) * console);
  }
});

test("a server with fewer connections than a stage needs is rejected", () => {
  expect(() => planCapacity({ connections: 60, functionConcurrency: 100 })).toThrow(
    "at least 78 connections",
  );
});

/** The reserved concurrency in the templates, by the id of the function. */
const reservedIn = (changed: Readonly<Record<string, unknown>>) =>
  synthesizeWith(changed)
    .list("Lambda::Function")
    .flatMap(([id, { Properties }]) =>
      Properties.ReservedConcurrentExecutions === undefined
        ? []
        : [
            [
              id.replace(/^Gateway|Function[\dA-F]{8}$/g, ""),
              Properties.ReservedConcurrentExecutions as number,
            ] as const,
          ],
    );

test("the templates reserve the concurrency of the functions with a database connection, and of no other", () => {
  const micro = { stage: "prod", database: { kind: "instance", instanceClass: "t4g.micro" } };
  expect(Object.fromEntries(reservedIn(micro))).toEqual({
    residentlist: 7,
    residentsearch: 7,
    residentverify: 7,
    employeelogin: 3,
    employeerefresh: 3,
    employeeticket: 3,
    employeeemployees: 3,
    tourismcategories: 1,
    tourismgallery: 1,
    notify: 6,
  });
  expect(listFunctions().length).toBeGreaterThan(10);
  const [citizenPortalRole] = examples.citizenPortalRole;
  expect(Object.fromEntries(reservedIn({ ...micro, citizenPortalRole })).reportsubject).toBe(4);
});

test("production and another stage fit in an account that may reserve 900; a small account reserves none", () => {
  const large = { kind: "aurora", maxCapacity: 64 };
  const both = ["prod", "dev"].map((stage) =>
    sum(reservedIn({ stage, database: large }).map(([, count]) => count)),
  );
  expect(sum(both)).toBeLessThanOrEqual(900);
  expect(reservedIn({ stage: "dev", functionConcurrency: 0 })).toEqual([]);
});

test("the migration gets the limits of the roles, which sum up to less than the server has", () => {
  const { resources } = readTemplate(composeWith({ stage: "prod" }).data);
  const variables = Object.values(resources("Lambda::Function")).flatMap(
    ({ Properties }) => Properties.Environment?.Variables.CONNECTION_LIMITS ?? [],
  );
  const limits = JSON.parse(variables[0]);
  expect(Object.keys(limits).toSorted()).toEqual(Object.keys(loginRoles).toSorted());
  expect(sum(Object.values(limits) as number[])).toBeLessThan(1_504);
});
