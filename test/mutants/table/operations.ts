import type { Mutant } from "../mutant.ts";

const alarms = "infra/aws/constructs/alarms.ts";
const alarmsTest = ["test/aws/alarms.test.ts"];
const figuresTest = ["test/aws/figures.test.ts"];
const operationsTest = ["test/aws/operations-stack.test.ts"];
const firewall = "infra/aws/constructs/firewall.ts";
const firewallTest = ["test/aws/firewall.test.ts"];
const timetable = "infra/aws/constructs/timetable.ts";
const jobs = "infra/aws/stacks/jobs.ts";
const jobsTest = ["test/aws/jobs-stack.test.ts"];
const apiTest = ["test/aws/api-stack.test.ts"];

export const operations: readonly Mutant[] = [
  {
    breaks: "Alarms watch what a deployment has replaced",
    file: "infra/aws/stacks/operations.ts",
    find: ".update(JSON.stringify(templates))",
    replace: ".update(JSON.stringify(templates.length))",
    tests: ["test/aws/context-changes.test.ts"],
    only: "updates operations",
  },
  {
    breaks: "Sends count as failing only when a hundred fail in a quarter of an hour",
    file: "infra/aws/operations/messenger-alarms.ts",
    find: "failed >= 10 AND",
    replace: "failed >= 100 AND",
    tests: alarmsTest,
  },
  {
    breaks: "Functions that callers use ring for a single error",
    file: "infra/aws/operations/api-alarms.ts",
    find: "isCalled(fn) ? 3 : 1",
    replace: "isCalled(fn) ? 1 : 3",
    tests: alarmsTest,
  },
  {
    breaks: "The certificate's alarm rings three days before it expires",
    file: "infra/aws/operations/certificate-alarms.ts",
    find: "rings: { below: 30 }",
    replace: "rings: { below: 3 }",
    tests: alarmsTest,
  },
  {
    breaks: "An alarm rings after the first of several bad periods",
    file: alarms,
    find: "evaluationPeriods: row.periods ?? 1,",
    replace: "evaluationPeriods: row.periods ?? 1,\n        datapointsToAlarm: 1,",
    tests: alarmsTest,
  },
  {
    breaks: "Silence that is good leaves an alarm without data instead of ending it",
    file: alarms,
    find: ": TreatMissingData.NOT_BREACHING",
    replace: ": TreatMissingData.MISSING",
    tests: alarmsTest,
  },
  {
    breaks: "The upkeep's alarms and graphs watch the notifications' function",
    file: "infra/aws/stacks/operations.ts",
    find: "fn === maintain.fn",
    replace: 'fn === "notify"',
    tests: alarmsTest,
  },
  {
    breaks: "Nobody is told that an alarm has started",
    file: alarms,
    find: "      alarm.addAlarmAction(action);\n",
    replace: "",
    tests: operationsTest,
  },
  {
    breaks: "A figure of the messenger counts lines instead of taking the line's number",
    file: "infra/aws/operations/log-metric.ts",
    find: "metricValue: of.value,",
    replace: 'metricValue: "1",',
    tests: figuresTest,
  },
  {
    breaks: "Failures of functions are searched for in the messenger's log",
    file: "infra/aws/stacks/operations.ts",
    find: "stage, lambda.logGroup, figure",
    replace: "stage, messengerLog, figure",
    tests: figuresTest,
  },
  {
    breaks: "The dashboard shows the upkeep's average duration, which hides a run near its limit",
    file: "infra/aws/operations/dashboard.ts",
    find: 'maintenance.metricDuration({ statistic: "Maximum" })',
    replace: "maintenance.metricDuration()",
    tests: figuresTest,
  },
  {
    breaks: "The budget's notices come at 80 and 100 dollars instead of per cent",
    file: "infra/aws/constructs/budget.ts",
    find: 'thresholdType: "PERCENTAGE"',
    replace: 'thresholdType: "ABSOLUTE_VALUE"',
    tests: operationsTest,
  },
  {
    breaks: "Calls are counted only after the firewall has looked at what they hold",
    file: firewall,
    find: `      ...perAddress.limits.map(limited(perAddress.refusal)),
      managed("AWSManagedRulesCommonRuleSet", guessing),`,
    replace: `      managed("AWSManagedRulesCommonRuleSet", guessing),
      ...perAddress.limits.map(limited(perAddress.refusal)),`,
    tests: firewallTest,
  },
  {
    breaks: "Login attempts of an address are limited to ten times as many",
    file: "infra/aws/integration-api.ts",
    find: "requestsPerMinute: 120",
    replace: "requestsPerMinute: 1_200",
    tests: firewallTest,
  },
  {
    breaks: "Jobs go by UTC instead of the city's clock",
    file: timetable,
    find: "timeZone ? TimeZone.of(timeZone) : undefined",
    replace: "timeZone ? TimeZone.ETC_UTC : undefined",
    tests: jobsTest,
  },
  {
    breaks: "EventBridge may not use the dead letters' key, so what it lays aside is lost",
    file: jobs,
    find: "    this.deadLetters.acceptFromRules();\n",
    replace: "",
    tests: jobsTest,
  },
  {
    breaks: "A one-time code is still tried a day after it was asked for",
    file: jobs,
    find: "deadLetterQueue: deadLetters.queue, maxEventAge }",
    replace: "deadLetterQueue: deadLetters.queue }",
    tests: jobsTest,
  },
  {
    breaks: "A run of the upkeep may go on into the next one",
    file: "lib/routes/internal.ts",
    find: "timeoutSeconds: 240,",
    replace: "timeoutSeconds: 360,",
    tests: jobsTest,
  },
  {
    breaks: "API Gateway gives up before the function has answered",
    file: "infra/aws/constructs/gateway.ts",
    find: "{ allowTestInvoke: false }",
    replace: "{ allowTestInvoke: false, timeout: Duration.seconds(10) }",
    tests: apiTest,
  },
  {
    breaks: "The alarm on changes that wait rings when lists fail already",
    file: "infra/aws/operations/job-alarms.ts",
    find: "rings: { atLeast: 200_000 }",
    replace: "rings: { atLeast: 2_000_000 }",
    tests: alarmsTest,
  },
];
