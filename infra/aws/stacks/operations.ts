import { createHash } from "node:crypto";
import { CrossStackReferences, Duration, Lazy, ReferenceStrength, Stack } from "aws-cdk-lib";
import { Dashboard } from "aws-cdk-lib/aws-cloudwatch";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct, IConstruct } from "constructs";
import { maintain } from "#lib/routes/internal.ts";
import { capacityOf } from "../capacity.ts";
import { Alarms } from "../constructs/alarms.ts";
import { BackupCopy } from "../constructs/backup-copy.ts";
import { Budget } from "../constructs/budget.ts";
import { addressNames } from "../constructs/gateway.ts";
import { NodeFunction, type StackContext } from "../constructs/node-function.ts";
import { Probe } from "../constructs/probe.ts";
import { Protection } from "../constructs/protection.ts";
import { apiAlarms, certificateAlarms, probeAlarm } from "../operations/api-alarms.ts";
import { dashboardRows } from "../operations/dashboard.ts";
import { databaseAlarms } from "../operations/database-alarms.ts";
import { metricsOf } from "../operations/function-metrics.ts";
import { jobAlarms } from "../operations/job-alarms.ts";
import { extract, messengerMetric } from "../operations/log-metric.ts";
import { messengerAlarms, usedMetrics } from "../operations/messenger-alarms.ts";
import type { ApiStack } from "./api.ts";
import type { DataStack } from "./data.ts";
import type { JobsStack } from "./jobs.ts";
import type { MessagingStack } from "./messaging.ts";

export interface OperationsStackProps extends StackContext {
  readonly data: DataStack;
  readonly messaging: MessagingStack;
  readonly apis: readonly ApiStack[];
  readonly jobs: JobsStack;
}

const functionsIn = (scopes: readonly IConstruct[]): NodeFunction[] =>
  scopes.flatMap((scope) => scope.node.findAll()).filter((found) => found instanceof NodeFunction);

/**
 * Returns a digest of the stacks' templates, known at the end of the synthesis. CloudFormation reads weak references again
 * only when it updates the stack that uses them: a template with this digest changes with the resources that it watches.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-getstackoutput.html
 */
const digestTemplates = (stacks: readonly Stack[]): string =>
  Lazy.string({
    produce: () => {
      const templates = stacks.map((stack) =>
        stack.resolve(Reflect.get(stack, "_toCloudFormation").call(stack)),
      );
      return createHash("sha256").update(JSON.stringify(templates)).digest("hex").slice(0, 12);
    },
  });

/** Monitoring: metrics, alarms, a dashboard and the budget. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, props: OperationsStackProps) {
    super(scope, id);
    // an alarm must not block the removal of the function that it watches
    CrossStackReferences.of(this).consume(ReferenceStrength.WEAK);
    const { config, data, messaging, jobs } = props;
    const { stage } = config;
    const { server } = data.database;
    const watched = [data, messaging, ...props.apis, jobs];
    for (const stack of watched) this.addStackDependency(stack);
    const apis = props.apis.map(({ api }) => api);
    const functions = functionsIn(watched);
    this.#count(stage, functions, messaging.task.logGroup);

    const maintenance = functions.find(({ fn }) => fn === maintain.fn)?.lambda;
    if (!maintenance) throw new Error("no function does the upkeep");
    const deadLetters = jobs.deadLetters.queue;
    const probe = new Probe(this, "Probe", {
      ...{ config, network: props.network },
      addresses: Object.fromEntries(
        props.apis.map(({ api, gateway }) => [addressNames[api.name], gateway.baseUrl]),
      ),
    });
    const rows = [
      probeAlarm(probe.lambda),
      ...apiAlarms(config, apis, functions, capacityOf(config)),
      ...databaseAlarms(server, config),
      ...messengerAlarms(config, messaging.service),
      ...jobAlarms(stage, maintenance, deadLetters),
      ...certificateAlarms(config),
    ];
    const { all: alarms } = new Alarms(this, "Alarms", config, { rows, server });
    new Dashboard(this, "Dashboard", {
      dashboardName: `municipal-${stage}`,
      defaultInterval: Duration.hours(12),
      widgets: dashboardRows({
        ...{ stage, alarms, apis, server, maintenance, deadLetters },
        version: digestTemplates(watched),
      }),
    });
    new Budget(this, "Budget", config);
    new BackupCopy(this, "BackupCopy", config, server);
    if (config.keepsData) new Protection(this, "Protection", config, server);
  }

  /** Extracts metrics from the logs of the functions and the messenger. */
  #count(stage: string, functions: readonly NodeFunction[], messengerLog: ILogGroup) {
    for (const { fn, lambda, node } of functions)
      for (const metric of metricsOf(fn))
        extract(this, `${node.id}-${metric.name}`, stage, lambda.logGroup, metric);
    for (const metric of usedMetrics)
      extract(this, `Messenger-${metric}`, stage, messengerLog, messengerMetric(metric));
  }
}
