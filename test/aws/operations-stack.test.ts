import { readFileSync } from "node:fs";
import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { listFunctions } from "../../infra/build/build.ts";
import { composeWith } from "./composed-stage.ts";

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly TreatMissingData: string;
  readonly AlarmActions: unknown[];
  readonly OKActions: unknown[];
  readonly MetricName?: string;
  readonly Metrics?: unknown[];
}

const compose = (changed: Readonly<Record<string, unknown>> = {}) => {
  const stage = composeWith({ stage: "test", ...changed });
  const template = Template.fromStack(stage.operations);
  const all = <T>(type: string) =>
    Object.values(template.findResources(`AWS::${type}`)).map(({ Properties }) => Properties as T);
  return { ...stage, template, all, alarms: all<Alarm>("CloudWatch::Alarm") };
};

const [aurora, instance, existing] = examples.database;
const stages = {
  aurora: compose({ database: aurora }),
  instance: compose({ database: instance, domain: examples.domain[0] }),
  existing: compose({ database: existing }),
};
const alarms = Object.values(stages).flatMap((stage) => stage.alarms);
const nameOf = ({ AlarmName }: Alarm) => AlarmName.replace("municipal-test-", "");

describe("an alarm", () => {
  test("says in a sentence what is wrong, and where the runbook goes on", () => {
    for (const { AlarmDescription } of alarms)
      expect(AlarmDescription).toMatch(/^[A-Z][^.]{20,}\. What to do: infra\/RUNBOOK\.md#[a-z-]+$/);
  });

  test("tells its topic when it rings and when it ends", () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  test("rings at silence for the three hearts of the system alone, so that one that stops rings once", () => {
    const ringing = stages.aurora.alarms.filter(({ TreatMissingData }) => TreatMissingData === "breaching");
    expect(ringing.map(nameOf).toSorted()).toEqual([
      "database-silent",
      "maintenance-missing",
      "messenger-silent",
    ]);
  });

  test("stands on every function that somebody calls or that a deployment leaves behind", () => {
    const watched = stages.aurora.alarms.map(nameOf);
    const forgiven = ["maintain", "notify", "messenger"];
    for (const fn of listFunctions().filter((name) => !forgiven.includes(name)))
      expect(watched).toContain(`${fn.replaceAll("/", "-")}-fails`);
  });

  test.each(["integration", "messaging"])("on the %s API leaves out what is no fault of ours", (name) => {
    const alarm = stages.aurora.alarms.find((one) => nameOf(one) === `${name}-api-fails`);
    const left = { integration: "UpstreamFailures-LEGACY_AUTH_URL", messaging: "BadBoundaries" }[name];
    expect(JSON.stringify(alarm?.Metrics)).toMatch(/FILL\(all, 0\) - FILL\(known0, 0\)/);
    expect(JSON.stringify(alarm?.Metrics)).toContain(left);
  });
});

test("figures of a database that was there already come from the functions, not from RDS", () => {
  const kinds = (names: readonly Alarm[]) => names.map(nameOf).filter((name) => name.startsWith("database"));
  expect(kinds(stages.existing.alarms)).toEqual(["database-unreachable"]);
  expect(kinds(stages.aurora.alarms)).toHaveLength(4);
  expect(kinds(stages.instance.alarms)).toHaveLength(5);
});

describe("the runbook", () => {
  const text = readFileSync("infra/RUNBOOK.md", "utf8");
  const sections = text.split(/^## /m).slice(1);
  const anchorOf = (section: string) =>
    (section.split("\n")[0] ?? "")
      .toLowerCase()
      .replaceAll(" ", "-")
      .replace(/[^\w-]/g, "");
  /** Sections that no alarm leads to. */
  const others = ["before-you-begin", "reach-the-console-and-the-database", "budget", "postgresql-upgrade"];

  test("has a section for every alarm, and an alarm for every section but a few", () => {
    const led = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription.split("#")[1]));
    expect([...led, ...others].toSorted()).toEqual(sections.map(anchorOf).toSorted());
  });

  test("says in each of them what citizens notice, what to check, how to fix it and when to escalate", () => {
    for (const section of sections.filter((one) => !others.includes(anchorOf(one))))
      expect(section.match(/^\*\*(Impact|Check|Fix|Escalate)\*\*/gm)).toEqual([
        ...["**Impact**", "**Check**", "**Fix**", "**Escalate**"],
      ]);
  });

  test("leads to sections that are there, and to commands and files that exist", () => {
    const anchors = sections.map(anchorOf);
    for (const [, anchor = ""] of text.matchAll(/\]\(#([\w-]+)\)/g)) expect(anchors).toContain(anchor);
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const [, script = ""] of text.matchAll(/npm run ([\w-]+)/g))
      expect(Object.keys(scripts)).toContain(script);
    for (const [, file = ""] of text.matchAll(/`((?:lib|infra)\/[\w./-]+\.\w+)`/g))
      expect(readFileSync(file).length).toBeGreaterThan(0);
  });
});

test("the topic is encrypted with a key that CloudWatch may use, and writes to whom the configuration names", () => {
  const { template, config } = stages.aurora;
  template.hasResourceProperties("AWS::SNS::Subscription", {
    Protocol: "email",
    Endpoint: config.alarmEmail,
  });
  const [topic] = stages.aurora.all<{ KmsMasterKeyId: unknown }>("SNS::Topic");
  expect(topic?.KmsMasterKeyId).toBeDefined();
  const [key] = stages.aurora.all<{ EnableKeyRotation: boolean; KeyPolicy: unknown }>("KMS::Key");
  expect(key?.EnableKeyRotation).toBe(true);
  expect(JSON.stringify(key?.KeyPolicy)).toContain("cloudwatch.amazonaws.com");
});

test("the alarms of the stage may publish to the topic, whose own policy replaces the one of SNS", () => {
  const [policy] = stages.aurora.all<{ PolicyDocument: { Statement: Record<string, unknown>[] } }>(
    "SNS::TopicPolicy",
  );
  const [allowed, ...more] =
    policy?.PolicyDocument.Statement.filter(({ Effect }) => Effect === "Allow") ?? [];
  expect(more).toEqual([]);
  expect(allowed).toMatchObject({
    Action: "sns:Publish",
    Principal: { Service: "cloudwatch.amazonaws.com" },
    Resource: { Ref: expect.stringMatching(/^AlarmsTopic/) },
  });
  expect(JSON.stringify(allowed?.Condition)).toMatch(/"ArnLike":.*:alarm:municipal-test-\*"/);
});

test("the budget tells at 80 per cent spent and when the month will take all of it", () => {
  const { all, config } = stages.aurora;
  const perCent = { ThresholdType: "PERCENTAGE", ComparisonOperator: "GREATER_THAN" };
  const Subscribers = [{ SubscriptionType: "EMAIL", Address: config.alarmEmail }];
  expect(all("Budgets::Budget")).toEqual([
    {
      Budget: {
        BudgetName: "municipal-test",
        BudgetType: "COST",
        TimeUnit: "MONTHLY",
        BudgetLimit: { Amount: config.monthlyBudgetUsd, Unit: "USD" },
      },
      NotificationsWithSubscribers: [
        { Notification: { ...perCent, NotificationType: "ACTUAL", Threshold: 80 }, Subscribers },
        { Notification: { ...perCent, NotificationType: "FORECASTED", Threshold: 100 }, Subscribers },
      ],
    },
  ]);
});

test("the dashboard is one page in the order of looking: alarms, doors, database, messenger, jobs", () => {
  const [dashboard, ...more] = stages.aurora.all<{ DashboardBody: unknown }>("CloudWatch::Dashboard");
  expect(more).toEqual([]);
  const body = JSON.stringify(dashboard?.DashboardBody);
  const places = ["Alarms", "## Doors", "## Database", "## Messenger", "## Jobs"].map((part) =>
    body.indexOf(part),
  );
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("nothing that is watched is held by its alarm: references to other stacks are weak", () =>
  expect(JSON.stringify(stages.aurora.template.toJSON())).not.toContain("Fn::ImportValue"));
