import { Template } from "aws-cdk-lib/assertions";
import { expect, test } from "vitest";
import { jobs } from "#lib/notification/jobs.ts";
import { maintain, notify } from "#lib/routes/internal.ts";
import { examples } from "../../infra/aws/config.ts";
import { composeWith } from "./composed-stage.ts";

const template = Template.fromStack(composeWith({ stage: "test" }).jobs);

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Properties = Record<string, any>;
const resources: Record<string, { Type: string; Properties: Properties }> = template.toJSON().Resources;
const all = (type: string): Properties[] =>
  Object.entries(resources)
    .filter(([, { Type }]) => Type === `AWS::${type}`)
    .map(([id, { Properties }]) => ({ ...Properties, id }));
const propertiesOf = (id: string): Properties =>
  resources[id]?.Properties ?? expect.fail(`no resource ${id}`);
const idOf = (value: unknown) => /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value))?.[1] ?? "";
const functionOf = (fn: string) => all("Lambda::Function").find(({ id }) => id.startsWith(`${fn}Function`));
const statementsOf = (roleId: string): Properties[] =>
  [
    ...(propertiesOf(roleId).Policies ?? []),
    ...all("IAM::Policy").filter(({ Roles }) => idOf(Roles) === roleId),
  ].flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
const actionsOf = (roleId: string) =>
  statementsOf(roleId)
    .flatMap(({ Action }) => Action)
    .toSorted();

const schedules = all("Scheduler::Schedule");
const scheduleOf = (description: string) =>
  schedules.find(({ Description }) => Description === description) ?? expect.fail(description);

test("the schedules are one for maintenance and one for each job", () =>
  expect(schedules.length).toBe(1 + jobs.length));

test("maintenance is scheduled as its row says without retries, because the next run makes up for a failed one", () => {
  const { ScheduleExpression, Target } = scheduleOf("Database maintenance");
  expect(ScheduleExpression).toBe(`rate(${maintain.everyMinutes} minutes)`);
  expect(idOf(Target.Arn)).toBe(functionOf("maintain")?.id);
  expect(Target.RetryPolicy.MaximumRetryAttempts).toBe(0);
  const [config] = all("Lambda::EventInvokeConfig").filter(({ FunctionName }) =>
    idOf(FunctionName).startsWith("maintain"),
  );
  expect(config?.MaximumRetryAttempts).toBe(0);
});

test("a stage without the role of a citizens' portal has no function that reports about citizens", () =>
  expect(functionOf("report")).toBeUndefined());

test("only the role of the citizens' portal may call the function that reports about citizens", () => {
  const [citizenPortalRole] = examples.citizenPortalRole;
  const stack = Template.fromStack(composeWith({ stage: "test", citizenPortalRole }).jobs);
  stack.hasResourceProperties("AWS::Lambda::Permission", {
    Action: "lambda:InvokeFunction",
    Principal: citizenPortalRole,
  });
  const permissions = Object.values(stack.findResources("AWS::Lambda::Permission"));
  expect(permissions.filter(({ Properties }) => /report/i.test(JSON.stringify(Properties)))).toHaveLength(1);
});

test("a maintenance run ends before the next one starts", () => {
  const seconds = functionOf("maintain")?.Timeout;
  expect(seconds).toBe(maintain.timeoutSeconds);
  expect(seconds).toBeLessThan((maintain.everyMinutes ?? 0) * 60);
});

test.each(jobs.map((job) => [job.name, job] as const))(
  "the job %s is scheduled in the city's time zone, and receives its name and the scheduled time",
  (name, { summary, schedule }) => {
    const { ScheduleExpression, ScheduleExpressionTimezone, Target, FlexibleTimeWindow } =
      scheduleOf(summary);
    expect([ScheduleExpression, ScheduleExpressionTimezone]).toEqual([schedule, "Asia/Jakarta"]);
    expect(FlexibleTimeWindow.Mode).toBe("OFF");
    expect(JSON.parse(Target.Input)).toEqual({ job: name, scheduled_time: "<aws.scheduler.scheduled-time>" });
    expect(idOf(Target.Arn)).toBe(functionOf("notify")?.id);
    expect(idOf(Target.DeadLetterConfig.Arn)).toBe(all("SQS::Queue")[0]?.id);
    expect(Target.RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 10 });
  },
);

test("the scheduler's role may only call its function and send failed events to the queue, for this group", () => {
  for (const { Target } of schedules) {
    const roleId = idOf(Target.RoleArn);
    const keeps = Target.DeadLetterConfig ? ["kms:Decrypt", "kms:GenerateDataKey", "sqs:SendMessage"] : [];
    expect(actionsOf(roleId)).toEqual([...keeps.slice(0, 2), "lambda:InvokeFunction", ...keeps.slice(2)]);
    const [invoke] = statementsOf(roleId);
    expect(invoke?.Resource).toEqual(Target.Arn);
    const [trust] = propertiesOf(roleId).AssumeRolePolicyDocument.Statement;
    expect(trust?.Principal).toEqual({ Service: "scheduler.amazonaws.com" });
    expect(idOf(trust?.Condition)).toBe(all("Scheduler::ScheduleGroup")[0]?.id);
  }
});

test("a notification request on the bus calls the same function, or goes to the dead-letter queue", () => {
  const [rule] = all("Events::Rule");
  expect(rule?.EventPattern).toEqual({ "detail-type": ["NotificationRequested"] });
  expect(idOf(rule?.EventBusName)).toBe(all("Events::EventBus")[0]?.id);
  expect(rule?.Targets.length).toBe(1);
  expect(idOf(rule?.Targets[0].Arn)).toBe(functionOf("notify")?.id);
  expect(idOf(rule?.Targets[0].DeadLetterConfig.Arn)).toBe(all("SQS::Queue")[0]?.id);
});

test("EventBridge may put undelivered events of its rule into the encrypted queue", () => {
  const allowed = (statements: Properties[]) =>
    statements
      .filter(({ Effect, Principal }) => Effect === "Allow" && Principal.Service === "events.amazonaws.com")
      .map(({ Action, Condition }) => [[Action].flat().toSorted(), idOf(Condition)]);
  const [queue] = all("SQS::QueuePolicy");
  const [key] = all("KMS::Key");
  expect(allowed(queue?.PolicyDocument.Statement)).toEqual([
    [["sqs:SendMessage"], all("Events::Rule")[0]?.id],
  ]);
  expect(allowed(key?.KeyPolicy.Statement)).toEqual([[["kms:Decrypt", "kms:GenerateDataKey"], ""]]);
});

test("a notification request expires after an hour, because its code is useless by then", () => {
  const [rule] = all("Events::Rule");
  const [config] = all("Lambda::EventInvokeConfig").filter(({ FunctionName }) =>
    idOf(FunctionName).startsWith("notify"),
  );
  expect(rule?.Targets[0].RetryPolicy).toEqual({ MaximumEventAgeInSeconds: 3_600 });
  expect(config?.MaximumEventAgeInSeconds).toBe(3_600);
});

test("a failed event is retried twice, and then put into the queue unchanged", () => {
  const called = functionOf("notify");
  expect(called?.Timeout).toBe(notify.timeoutSeconds);
  expect(idOf(called?.DeadLetterConfig.TargetArn)).toBe(all("SQS::Queue")[0]?.id);
  const [config] = all("Lambda::EventInvokeConfig").filter(
    ({ FunctionName }) => idOf(FunctionName) === called?.id,
  );
  expect(config?.MaximumRetryAttempts).toBe(2);
  expect(actionsOf(idOf(called?.Role))).toEqual(
    expect.arrayContaining(["kms:GenerateDataKey", "sqs:SendMessage"]),
  );
});

test("the dead-letter queue has its own rotated key, requires TLS and keeps events for a week", () => {
  const [queue, ...more] = all("SQS::Queue");
  expect(more).toEqual([]);
  const [key] = all("KMS::Key");
  expect(idOf(queue?.KmsMasterKeyId)).toBe(key?.id);
  expect(key?.EnableKeyRotation).toBe(true);
  expect(queue?.MessageRetentionPeriod).toBe(7 * 24 * 3_600);
  const [policy] = all("SQS::QueuePolicy");
  expect(policy?.PolicyDocument.Statement[0]).toMatchObject({
    Effect: "Deny",
    Action: "sqs:*",
    Condition: { Bool: { "aws:SecureTransport": "false" } },
  });
});

test("the dead-letters command finds the queue's URL and the function's name in the outputs", () => {
  expect(template.findOutputs("DeadLetterQueue")).toEqual({
    DeadLetterQueue: { Value: { Ref: all("SQS::Queue")[0]?.id } },
  });
  expect(template.findOutputs("NotifyFunction")).toEqual({
    NotifyFunction: { Value: { Ref: functionOf("notify")?.id } },
  });
});

test("no event is archived, which would store another copy of numbers and codes", () =>
  template.resourceCountIs("AWS::Events::Archive", 0));
