import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test } from "vitest";
import { languages } from "#lib/openapi/words.ts";
import { examples } from "../../infra/aws/config.ts";
import { listFunctions } from "../../infra/build/build.ts";
import { listAnchors, readGuide } from "../../infra/docs/guide.ts";
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
  aurora: compose({ database: aurora, citizenPortalRole: examples.citizenPortalRole[0] }),
  instance: compose({ database: instance, domain: examples.domain[0], alarmUrl: examples.alarmUrl[0] }),
  existing: compose({ database: existing }),
};
const alarms = Object.values(stages).flatMap((stage) => stage.alarms);
const nameOf = ({ AlarmName }: Alarm) => AlarmName.replace("municipal-test-", "");

describe("an alarm", () => {
  test("describes the problem in a sentence and names the runbook section", () => {
    for (const { AlarmDescription } of alarms)
      expect(AlarmDescription).toMatch(/^[A-Z][^.]{20,}\. What to do: \/docs\/runbook#[a-z-]+$/);
  });

  test("notifies its topic when it fires and when it recovers", () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  test("treats missing data as a failure only for four heartbeats, so that one outage causes one alarm", () => {
    const ringing = stages.aurora.alarms.filter(({ TreatMissingData }) => TreatMissingData === "breaching");
    expect(ringing.map(nameOf).toSorted()).toEqual([
      "database-silent",
      "maintenance-missing",
      "messenger-silent",
      "no-answer-from-outside",
    ]);
  });

  test("exists for every function but maintain, notify, probe and messenger", () => {
    const watched = stages.aurora.alarms.map(nameOf);
    const forgiven = ["maintain", "notify", "probe", "messenger"];
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
  expect(kinds(stages.instance.alarms)).toHaveLength(7);
});

describe("the runbook", () => {
  const anchors = listAnchors(readGuide("runbook", "en"));
  const labels = {
    en: ["Impact", "Check", "Fix", "Escalate"],
    id: ["Dampak", "Periksa", "Atasi", "Eskalasi"],
  };
  /** Sections that no alarm leads to. */
  const others = [
    "before-you-begin",
    "reach-the-console-and-the-database",
    "follow-one-request",
    "before-a-release",
    "check-whatsapp-with-a-real-phone",
    "budget",
    "postgresql-upgrade",
    "employee-locked-out",
    "channel-rejected-or-unreachable",
    "opt-out-without-a-number",
    "release-fails-its-smoke-test",
    "the-database-is-empty",
    "restore-the-database",
    // of stages with a vault
    "backup-copy",
  ];

  test("has a section for every alarm, and an alarm for all but a few sections", () => {
    const led = new Set(alarms.map(({ AlarmDescription }) => AlarmDescription.split("#")[1]));
    expect([...led, ...others].toSorted()).toEqual(anchors.toSorted());
  });

  test.each(languages)(
    "in %s describes in each section the effect for citizens, the checks, the fix and when to escalate",
    (language) => {
      const sections = readGuide("runbook", language).body.split(/^## /m).slice(1);
      expect(sections).toHaveLength(anchors.length);
      const label = new RegExp(`^\\*\\*(${labels[language].join("|")})\\*\\*`, "gm");
      for (const [at, section] of sections.entries())
        if (!others.includes(anchors[at] ?? ""))
          expect([...section.matchAll(label)].map(([, name]) => name)).toEqual(labels[language]);
    },
  );
});

test("the topic notifies the configured e-mail address, and the on-call service if there is one", () => {
  const subscribed = ({ all }: ReturnType<typeof compose>) =>
    all<{ Protocol: string; Endpoint: string }>("SNS::Subscription").map(({ Protocol, Endpoint }) => [
      Protocol,
      Endpoint,
    ]);
  const email = ["email", stages.aurora.config.alarmEmail];
  expect(subscribed(stages.aurora)).toEqual([email]);
  expect(subscribed(stages.instance)).toEqual([email, ["https", examples.alarmUrl[0]]]);
});

// biome-ignore lint/suspicious/noExplicitAny: a policy's statements have many forms
type Statement = Record<string, any>;

/** A value of a template as text, with the names of what it refers to. */
const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  const [[name, argument] = ["", ""]] = Object.entries(value as Record<string, unknown>);
  if (name === "Fn::Join") return (argument as [string, unknown[]])[1].map(textOf).join("");
  return `<${[argument].flat().join(".")}>`;
};

const isLike = (pattern: unknown, value = ""): boolean =>
  new RegExp(`^${textOf(pattern).split("*").map(RegExp.escape).join(".*")}$`).test(value);

/** What a service asks of the topic or its key. */
interface Question {
  readonly service: string;
  readonly action: string;
  readonly resource: string;
  /** By key of a condition. */
  readonly context: Readonly<Record<string, string>>;
}

const applies = (
  { Principal, Action, Resource, Condition = {} }: Statement,
  { service, action, resource, context }: Question,
): boolean =>
  (Principal === "*" || Principal.AWS === "*" || [Principal.Service].flat().includes(service)) &&
  [Action].flat().some((one) => isLike(one, action)) &&
  [Resource].flat().some((one) => isLike(one, resource)) &&
  Object.values<Record<string, unknown>>(Condition).every((operator) =>
    Object.entries(operator).every(([key, wanted]) => isLike(wanted, context[key])),
  );

/** As AWS decides on a resource's policy alone: a denial outweighs what allows. */
const decide = (statements: readonly Statement[], question: Question): "allow" | "deny" | "nothing" => {
  const effects = statements.filter((one) => applies(one, question)).map(({ Effect }) => Effect);
  if (effects.includes("Deny")) return "deny";
  return effects.includes("Allow") ? "allow" : "nothing";
};

describe.each(Object.keys(stages) as (keyof typeof stages)[])("with the database %s", (name) => {
  const { all, alarms: own, template } = stages[name];
  const [topic = ""] = Object.keys(template.findResources("AWS::SNS::Topic"));
  const [keyId = ""] = Object.keys(template.findResources("AWS::KMS::Key"));
  const [topicPolicy] = all<{ PolicyDocument: { Statement: Statement[] } }>("SNS::TopicPolicy");
  const [key] = all<{ KeyPolicy: { Statement: Statement[] } }>("KMS::Key");
  const ask = (service: string, sourceArn: string, more: Record<string, string> = {}) => {
    const context = {
      "aws:SourceArn": sourceArn,
      "aws:SourceAccount": "<AWS::AccountId>",
      "aws:SecureTransport": "true",
      ...more,
    };
    const question = { service: `${service}.amazonaws.com`, context };
    return [
      decide(topicPolicy?.PolicyDocument.Statement ?? [], {
        ...{ ...question, action: "sns:Publish", resource: `<${topic}>` },
      }),
      ...["kms:GenerateDataKey", "kms:Decrypt"].map((action) =>
        decide(key?.KeyPolicy.Statement ?? [], { ...question, action, resource: "the key itself" }),
      ),
    ];
  };
  const place = (service: string) => `arn:<AWS::Partition>:${service}:<AWS::Region>:<AWS::AccountId>`;
  const delivered = ["allow", "allow", "allow"];

  test("every alarm is delivered: the policies of its topic and of the topic's key allow it", () => {
    expect(all<{ KmsMasterKeyId: unknown }>("SNS::Topic")[0]?.KmsMasterKeyId).toEqual({
      "Fn::GetAtt": [keyId, "Arn"],
    });
    for (const { AlarmName, AlarmActions } of own) {
      expect(AlarmActions).toEqual([{ Ref: topic }]);
      expect(ask("cloudwatch", `${place("cloudwatch")}:alarm:${AlarmName}`)).toEqual(delivered);
    }
  });

  test("messages of the stage's own database are delivered", () =>
    expect(ask("events.rds", `${place("rds")}:cluster:municipal-test`)).toEqual(delivered));

  test("nobody else may publish: another service, account or stage, or without TLS", () => {
    const alarm = `${place("cloudwatch")}:alarm:municipal-test-queue-old`;
    expect(ask("s3", alarm)[0]).toBe("nothing");
    expect(ask("cloudwatch", alarm, { "aws:SourceAccount": "444455556666" })[0]).toBe("nothing");
    expect(ask("cloudwatch", alarm.replace("-test-", "-other-"))[0]).toBe("nothing");
    expect(ask("cloudwatch", alarm, { "aws:SecureTransport": "false" })[0]).toBe("deny");
  });
});

test("RDS reports failovers and failures of the stage's own server to the topic, once it may publish there", () => {
  const found = (name: keyof typeof stages) =>
    Object.values(stages[name].template.findResources("AWS::RDS::EventSubscription"));
  const topic = { Ref: expect.stringMatching(/^AlarmsTopic/) };
  expect(found("existing")).toEqual([]);
  expect(found("aurora")).toMatchObject([
    {
      Properties: {
        SourceType: "db-cluster",
        SourceIds: [
          {
            "Fn::GetStackOutput": expect.objectContaining({
              OutputName: expect.stringContaining("DatabaseCluster"),
            }),
          },
        ],
        EventCategories: ["failover", "failure"],
        SnsTopicArn: topic,
      },
      DependsOn: expect.arrayContaining([expect.stringMatching(/^AlarmsTopicPolicy/)]),
    },
  ]);
  expect(found("instance")).toMatchObject([
    { Properties: { SourceType: "db-instance", SnsTopicArn: topic } },
  ]);
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
  const places = ["Alarms", "## APIs", "## Database", "## Messenger", "## Jobs"].map((part) =>
    body.indexOf(part),
  );
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("alarms refer to other stacks only by weak references, so that watched resources can be replaced", () =>
  expect(JSON.stringify(stages.aurora.template.toJSON())).not.toContain("Fn::ImportValue"));
