import { expect, test } from "vitest";
import { stacksOf, usual, whenComplete } from "./life/configurations.ts";
import { LifeCycle } from "./life/stage.ts";
import type { Resource, StackTemplate } from "./life/template.ts";

type Breakable = { -readonly [K in keyof Resource]: Resource[K] } & { Properties: Record<string, unknown> };
type Break = (resource: Breakable, id: string, stack: StackTemplate) => void;

/** The life of a stage whose templates are broken, resource by resource. */
const brokenLife = (stage: string, breakIt: Break) =>
  new LifeCycle(stage, (configuration) =>
    structuredClone(stacksOf(stage, configuration)).map((stack) => {
      for (const [id, resource] of Object.entries(stack.template.Resources))
        breakIt(resource as Breakable, id, stack);
      return stack;
    }),
  );

/** The steps at which something is found about a resource. */
const found = (life: LifeCycle, resource: string, what: string): ReadonlySet<string> =>
  new Set(
    life
      .take()
      .flatMap((finding) =>
        finding.resource.includes(resource) && finding.what.includes(what) ? [finding.step] : [],
      ),
  );

const ofType =
  (type: string, breakIt: (resource: Breakable, stack: StackTemplate) => void): Break =>
  (resource, _, stack) =>
    resource.Type === type && breakIt(resource, stack);

const retained = (type: string) =>
  ofType(type, (resource) => {
    resource.DeletionPolicy = "Retain";
  });

test("finds that a secret which a rollback retains blocks the next attempt by its name", () => {
  const life = brokenLife("prod", retained("AWS::SecretsManager::Secret"));
  life.failAndRetry(usual);
  const steps = found(life, "-data/DatabaseAdmin", "refused: its name is taken by a retained");
  expect([...steps].filter((step) => step.startsWith("retry after MigrationTrigger"))).toHaveLength(1);
});

test("finds that a rollback cannot delete a server with deletion protection, and that the retry fails", () => {
  const life = brokenLife(
    "prod",
    ofType("AWS::RDS::DBCluster", ({ Properties }) => {
      Properties.DeletionProtection = true;
    }),
  );
  life.failAndRetry(usual);
  const findings = life.take().filter(({ step }) => step.includes("MigrationTrigger"));
  expect(findings.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      "refused: the rollback cannot delete it, it is protected from deletion",
      expect.stringMatching(/^refused: its name is taken by a retained DatabaseCluster/),
    ]),
  );
});

test("finds that a stack with termination protection cannot be deployed again when its creation fails", () => {
  const life = brokenLife("prod", () => {});
  life.failAndRetry(whenComplete);
  const steps = found(life, "-data", "refused: the stack that failed cannot be deleted");
  expect([...steps].filter((step) => step.startsWith("retry after MigrationTrigger"))).toHaveLength(1);
});

test.each([
  ["aurora, ipv6", "aurora, nat", "-network:"],
  ["aurora, ipv6", "aurora, ipv6, domain", "-messaging-api:"],
])(
  "finds that the change from %s to %s removes an export in use, when only what is used is exported",
  (from, to, name) => {
    const life = new LifeCycle("prod", (configuration) => {
      const stage = structuredClone(stacksOf("prod", configuration));
      const used = JSON.stringify(stage.map(({ template }) => template.Resources));
      for (const { template } of stage)
        for (const [id, { Export }] of Object.entries(template.Outputs ?? {}))
          if (Export && !used.includes(`"Fn::ImportValue":"${Export.Name}"`))
            Reflect.deleteProperty(template.Outputs ?? {}, id);
      return stage;
    });
    life.changeAndBack(from, to);
    expect(found(life, name, "refused: the removal of an export")).toEqual(new Set([`change to ${to}`]));
  },
);

test("finds that a schedule group which is retained blocks the next stage by its name", () => {
  const life = brokenLife("dev", retained("AWS::Scheduler::ScheduleGroup"));
  life.destroyAndCreate(usual);
  expect(found(life, "-jobs/Schedules", "orphaned")).toEqual(new Set(["destroy"]));
  life.destroyAndCreate(usual);
  expect(found(life, "-jobs/Schedules", "refused: its name is taken")).toEqual(new Set(["create again"]));
});

test.each(["dev", "prod"])("finds that a key which is retained is orphaned in %s", (stage) => {
  const life = brokenLife(stage, retained("AWS::KMS::Key"));
  life.destroyAndCreate(usual, ["network", "data"]);
  expect(found(life, "-jobs/DeadLettersKey", "orphaned")).toEqual(new Set(["destroy"]));
});

test("finds that an alarm watches a queue that has been replaced, when its own template stays the same", () => {
  const life = new LifeCycle("prod", (configuration) => {
    const stage = structuredClone(stacksOf("prod", usual));
    for (const { Type, Properties = {} } of stage.flatMap(({ template }) =>
      Object.values(template.Resources),
    ))
      if (Type === "AWS::SQS::Queue") Reflect.set(Properties, "QueueName", configuration);
    return stage;
  });
  life.changeAndBack("one name", "another name");
  expect([...found(life, "-operations/Alarms", "stale: it refers to DeadLettersQueue")]).toContain(
    "change to another name",
  );
});

/** The life of a stage whose templates are changed from one name to another. */
const lifeOfChange = (changeIt: (text: string, name: string) => string) =>
  new LifeCycle("prod", (name) => JSON.parse(changeIt(JSON.stringify(stacksOf("prod", usual)), name)));

test("finds that a deployment runs the migration before, when the version does not change with its function", () => {
  const life = lifeOfChange((text, name) => text.replaceAll('"Timeout":840', `"Timeout":${name.length}`));
  life.changeAndBack("code", "other code");
  expect(found(life, "-data/Migration", "stale: its function has changed")).toContain("change to other code");
});

test("finds that Lambda publishes no version of a function that has not changed", () => {
  const life = lifeOfChange((text, name) =>
    text.replaceAll(/(FunctionCurrentVersion\w{8})\w+/g, `$1${name}`),
  );
  life.changeAndBack("one", "another");
  expect(found(life, "CurrentVersion", "refused: a version with this code")).toContain("change to another");
});

test("finds that the update of a budget with a fixed name collides with itself", () => {
  const life = brokenLife(
    "dev",
    ofType("AWS::Budgets::Budget", ({ Properties }) => {
      Reflect.set(Properties.Budget as object, "BudgetName", "municipal-dev");
    }),
  );
  life.changeAndBack(usual, "other alarm address");
  expect(found(life, "BudgetMonthly", "refused: its name is taken")).toEqual(
    new Set(["change to other alarm address"]),
  );
});

test("finds that a server which is kept prevents the deletion of its subnet group, and cannot be imported without it", () => {
  const life = brokenLife(
    "prod",
    ofType("AWS::RDS::DBSubnetGroup", (resource) => {
      resource.DeletionPolicy = "Delete";
    }),
  );
  life.destroyAndCreate(usual, ["network"], ["data"]);
  const findings = life.take();
  expect(findings).toContainEqual(
    expect.objectContaining({
      step: "destroy",
      resource: expect.stringContaining("-data/DatabaseClusterSubnets"),
      what: expect.stringMatching(/^refused: it cannot be deleted, it is in use by DatabaseCluster/),
    }),
  );
  expect(findings.map(({ what }) => what)).toContainEqual(
    expect.stringMatching(/^refused: it cannot be imported without/),
  );
});

test("finds that a database is lost when what refuses its successor runs in a later stack", () => {
  const life = brokenLife("dev", () => {});
  life.changeInVain(usual, "instance, ipv6", "AWS::ECS::Service");
  expect(found(life, "-data/DatabaseCluster", "lost: the database")).toEqual(
    new Set(["change to instance, ipv6 in vain"]),
  );
});
