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
  test("describes the problem in a sentence and names the runbook section", () => {
    for (const { AlarmDescription } of alarms)
      expect(AlarmDescription).toMatch(/^[A-Z][^.]{20,}\. What to do: infra\/RUNBOOK\.md#[a-z-]+$/);
  });

  test("notifies its topic when it fires and when it recovers", () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  test("treats missing data as a failure only for three heartbeats, so that one outage causes one alarm", () => {
    const ringing = stages.aurora.alarms.filter(({ TreatMissingData }) => TreatMissingData === "breaching");
    expect(ringing.map(nameOf).toSorted()).toEqual([
      "database-silent",
      "maintenance-missing",
      "messenger-silent",
    ]);
  });

  test("exists for every function but maintain, notify and messenger", () => {
    const watched = stages.aurora.alarms.map(nameOf);
    const forgiven = ["maintain", "notify", "messenger"];
    for (const fn of listFunctions().filter((name) => !forgiven.includes(name)))
      expect(watched).toContain(`${fn.replaceAll("/", "-")}-fails`);
  });

  test.each(["integration", "messaging"])("on the %s API ignores errors of other systems", (name) => {
    const alarm = stages.aurora.alarms.find((one) => nameOf(one) === `${name}-api-fails`);
    const left = { integration: "UpstreamFailures-LEGACY_AUTH_URL", messaging: "BadBoundaries" }[name];
    expect(JSON.stringify(alarm?.Metrics)).toMatch(/FILL\(all, 0\) - FILL\(known0, 0\)/);
    expect(JSON.stringify(alarm?.Metrics)).toContain(left);
  });
});

test("metrics of an existing database come from the functions, not from RDS", () => {
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
  const others = [
    "before-you-begin",
    "reach-the-console-and-the-database",
    "before-a-release",
    "check-whatsapp-with-a-real-phone",
    "budget",
    "postgresql-upgrade",
    "employee-locked-out",
    "the-database-is-empty",
  ];

  test("has a section for every alarm, and an alarm for all but a few sections", () => {
    const led = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription.split("#")[1]));
    expect([...led, ...others].toSorted()).toEqual(sections.map(anchorOf).toSorted());
  });

  test("describes in each section the effect for citizens, the checks, the fix and when to escalate", () => {
    for (const section of sections.filter((one) => !others.includes(anchorOf(one))))
      expect(section.match(/^\*\*(Impact|Check|Fix|Escalate)\*\*/gm)).toEqual([
        ...["**Impact**", "**Check**", "**Fix**", "**Escalate**"],
      ]);
  });

  test("links only to existing sections, commands and files", () => {
    const anchors = sections.map(anchorOf);
    for (const [, anchor = ""] of text.matchAll(/\]\(#([\w-]+)\)/g)) expect(anchors).toContain(anchor);
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    for (const [, script = ""] of text.matchAll(/npm run ([\w-]+)/g))
      expect(Object.keys(scripts)).toContain(script);
    for (const [, file = ""] of text.matchAll(/`((?:lib|infra)\/[\w./-]+\.\w+)`/g))
      expect(readFileSync(file).length).toBeGreaterThan(0);
  });
});

test("the topic is encrypted with a key that CloudWatch may use, and e-mails the configured addresses", () => {
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

test("the topic's policy allows the stage's alarms to publish", () => {
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

test("the budget warns at 80 per cent spent, and when the forecast exceeds it", () => {
  const { all, config } = stages.aurora;
  const perCent = { ThresholdType: "PERCENTAGE", ComparisonOperator: "GREATER_THAN" };
  const Subscribers = [{ SubscriptionType: "EMAIL", Address: config.alarmEmail }];
  expect(all("Budgets::Budget")).toEqual([
    {
      Budget: {
        BudgetName: expect.stringMatching(/^municipal-test-[\da-f]{8}$/),
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

test("the dashboard is one page: alarms, APIs, database, messenger, jobs", () => {
  const [dashboard, ...more] = stages.aurora.all<{ DashboardBody: unknown }>("CloudWatch::Dashboard");
  expect(more).toEqual([]);
  const body = JSON.stringify(dashboard?.DashboardBody);
  const places = ["Alarms", "## Doors", "## Database", "## Messenger", "## Jobs"].map((part) =>
    body.indexOf(part),
  );
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("alarms refer to other stacks only by weak references, so that watched resources can be replaced", () =>
  expect(JSON.stringify(stages.aurora.template.toJSON())).not.toContain("Fn::ImportValue"));
