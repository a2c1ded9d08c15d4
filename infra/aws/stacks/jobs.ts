import { CfnOutput, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { EventBus, Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { ArnPrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { ContextAttribute, ScheduleGroup, ScheduleTargetInput } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import { requestedType, type ScheduleInput } from "#lib/notification/event.ts";
import { jobs } from "#lib/notification/jobs.ts";
import { maintain, notify, reportSubject } from "#lib/routes/internal.ts";
import { defaultZone } from "#lib/time-zone.ts";
import type { AuditAnchors } from "../constructs/audit-anchors.ts";
import { DeadLetters } from "../constructs/dead-letters.ts";
import { NodeFunction, type StackContext } from "../constructs/node-function.ts";
import { Schedules } from "../constructs/schedules.ts";

/** Retries of a function that failed for an event. */
const retryAttempts = 2;
const maxEventAge = Duration.hours(1);

interface JobsProps extends StackContext {
  readonly anchors: AuditAnchors;
}

/** Everything that no client calls: database maintenance, notification jobs, requested notifications, reports to the portal. */
export class JobsStack extends Stack {
  readonly deadLetters: DeadLetters;

  readonly #stackContext: StackContext;

  constructor(scope: Construct, id: string, { anchors, ...stackContext }: JobsProps) {
    super(scope, id);
    this.#stackContext = stackContext;
    const { stage, citizenPortalRole } = stackContext.config;
    this.deadLetters = new DeadLetters(this, "DeadLetters", stage);
    const group = new ScheduleGroup(this, "Schedules", {
      scheduleGroupName: `municipal-${stage}`,
      // by default it is retained, and a stage that is created again finds its name taken
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#maintain(group, anchors);
    const lambda = this.#notify(group);
    // `npm run city -- dead-letters` reads these outputs
    new CfnOutput(this, "NotifyFunction", { value: lambda.functionName });
    if (citizenPortalRole) this.#report(citizenPortalRole);
    new CfnOutput(this, "DeadLetterQueue", { value: this.deadLetters.queue.queueUrl });
  }

  /** The next run makes up for a failed one, so there are no retries and no dead letters. */
  #maintain(group: ScheduleGroup, anchors: AuditAnchors) {
    const { lambda } = new NodeFunction(this, {
      ...this.#stackContext,
      ...maintain,
      environment: { AUDIT_ANCHORS_URL: anchors.url },
    });
    anchors.grantAdd(lambda);
    lambda.configureAsyncInvoke({ retryAttempts: 0 });
    new Schedules(this, "Maintenance", { group, lambda }).add("Schedule", {
      description: "Database maintenance",
      expression: `rate(${maintain.everyMinutes} minutes)`,
    });
  }

  /** The portal gets the report as the answer: it is not stored, nor asked for again. */
  #report(citizenPortalRole: string) {
    const { lambda } = new NodeFunction(this, { ...this.#stackContext, ...reportSubject });
    lambda.grantInvoke(new ArnPrincipal(citizenPortalRole));
    lambda.configureAsyncInvoke({ retryAttempts: 0 });
    new CfnOutput(this, "ReportSubjectFunction", { value: lambda.functionName });
  }

  #notify(group: ScheduleGroup): IFunction {
    const deadLetters = this.deadLetters;
    const { lambda } = new NodeFunction(this, {
      ...this.#stackContext,
      ...notify,
      deadLetters: deadLetters.queue,
    });
    lambda.configureAsyncInvoke({ retryAttempts, maxEventAge });
    for (const statement of deadLetters.writing()) lambda.addToRolePolicy(statement);
    const schedules = new Schedules(this, "Notifications", { group, lambda, deadLetters });
    for (const { name, summary, schedule } of jobs)
      schedules.add(name, {
        description: summary,
        expression: schedule,
        timeZone: this.#stackContext.config.timeZone ?? defaultZone,
        input: ScheduleTargetInput.fromObject({
          job: name,
          scheduled_time: ContextAttribute.scheduledTime,
        } satisfies ScheduleInput),
      });
    this.#listen(new LambdaFunction(lambda, { deadLetterQueue: deadLetters.queue, maxEventAge }));
    return lambda;
  }

  /**
   * The bus has no archive: it would be another copy of phone numbers and texts, and replaying a one-time code after
   * an hour is useless. Failed events are in the dead letters.
   */
  #listen(target: LambdaFunction) {
    const { stage } = this.#stackContext.config;
    const eventBus = new EventBus(this, "Bus", { eventBusName: `municipal-${stage}` });
    new Rule(this, "Requests", {
      eventBus,
      description: "Single notifications that other systems ask for",
      eventPattern: { detailType: [requestedType] },
      targets: [target],
    });
    this.deadLetters.acceptFromRules();
    new CfnOutput(this, "BusName", { value: eventBus.eventBusName });
  }
}
