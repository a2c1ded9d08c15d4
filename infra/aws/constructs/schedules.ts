import { Duration, TimeZone } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import * as scheduler from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Construct } from "constructs";
import type { DeadLetters } from "./dead-letters.ts";

export interface SchedulesProps {
  readonly group: scheduler.IScheduleGroup;
  readonly lambda: IFunction;
  /** Queue for events that could not be delivered. When absent, the next scheduled run makes up for it. */
  readonly deadLetters?: DeadLetters;
}

interface Entry {
  readonly description: string;
  /** In EventBridge Scheduler's syntax, such as `rate(5 minutes)`. */
  readonly expression: string;
  /** IANA time zone of a `cron(…)` expression. */
  readonly timeZone?: string;
  readonly input?: scheduler.ScheduleTargetInput;
}

/** The schedules of a function, and their role, which may invoke only this function. */
export class Schedules extends Construct {
  readonly #props: SchedulesProps;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: SchedulesProps) {
    super(scope, id);
    const { group, lambda, deadLetters } = props;
    this.#props = props;
    this.#role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceArn": group.scheduleGroupArn } },
      }),
      inlinePolicies: {
        start: new PolicyDocument({
          statements: [
            new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [lambda.functionArn] }),
            ...(deadLetters?.writing() ?? []),
          ],
        }),
      },
    });
  }

  add(name: string, { description, expression, timeZone, input }: Entry): void {
    const { group, lambda, deadLetters } = this.#props;
    new scheduler.Schedule(this, name, {
      scheduleGroup: group,
      description,
      schedule: scheduler.ScheduleExpression.expression(
        expression,
        timeZone ? TimeZone.of(timeZone) : undefined,
      ),
      target: new LambdaInvoke(lambda, {
        // the default target would also allow every version of the function
        role: this.#role.withoutPolicyUpdates(),
        ...(input && { input }),
        ...(deadLetters && { deadLetterQueue: deadLetters.queue }),
        retryAttempts: deadLetters ? 10 : 0,
        maxEventAge: deadLetters ? Duration.hours(1) : Duration.minutes(1),
      }),
    });
  }
}
