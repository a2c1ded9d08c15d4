import { Duration, TimeZone } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import {
  Schedule,
  ScheduleExpression,
  type ScheduleGroup,
  type ScheduleTargetInput,
} from "aws-cdk-lib/aws-scheduler";
import { LambdaInvoke } from "aws-cdk-lib/aws-scheduler-targets";
import { Construct } from "constructs";
import type { DeadLetters } from "./dead-letters.ts";

export interface TimetableProps {
  readonly group: ScheduleGroup;
  readonly lambda: IFunction;
  /** Keeps what could not be handed over to the function. Without, the next time makes up for it. */
  readonly deadLetters?: DeadLetters;
}

interface Entry {
  readonly description: string;
  /** In EventBridge Scheduler's words, such as `rate(5 minutes)`. */
  readonly expression: string;
  /** IANA name of the zone whose clock a `cron(…)` goes by. */
  readonly timeZone?: string;
  readonly input?: ScheduleTargetInput;
}

/** When a function is started: the schedules, and their role, which may start this function and nothing else. */
export class Timetable extends Construct {
  readonly #props: TimetableProps;
  readonly #role: Role;

  constructor(scope: Construct, id: string, props: TimetableProps) {
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
    new Schedule(this, name, {
      scheduleGroup: group,
      description,
      schedule: ScheduleExpression.expression(expression, timeZone ? TimeZone.of(timeZone) : undefined),
      target: new LambdaInvoke(lambda, {
        // the target would add every version of the function
        role: this.#role.withoutPolicyUpdates(),
        ...(input && { input }),
        ...(deadLetters && { deadLetterQueue: deadLetters.queue }),
        retryAttempts: deadLetters ? 10 : 0,
        maxEventAge: deadLetters ? Duration.hours(1) : Duration.minutes(1),
      }),
    });
  }
}
