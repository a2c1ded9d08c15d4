import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { probe } from "#lib/routes/internal.ts";
import { NodeFunction, type Surroundings } from "./node-function.ts";
import { Timetable } from "./timetable.ts";

export interface ProbeProps extends Surroundings {
  /** Public addresses by the variable that names each. */
  readonly addresses: Readonly<Record<string, string>>;
}

/**
 * A function outside the network that asks the public addresses for an answer: names, certificates, firewall, gateway. A
 * canary of CloudWatch Synthetics would do the same for a hundred times the price, and needs a bucket.
 */
export class Probe extends Construct {
  readonly lambda: IFunction;

  constructor(scope: Construct, id: string, { addresses, ...surroundings }: ProbeProps) {
    super(scope, id);
    const { lambda } = new NodeFunction(this, { ...surroundings, ...probe, environment: addresses });
    lambda.configureAsyncInvoke({ retryAttempts: 0 });
    const group = ScheduleGroup.fromScheduleGroupName(
      this,
      "Schedules",
      `municipal-${surroundings.config.stage}`,
    );
    new Timetable(this, "Timetable", { group, lambda }).add("Schedule", {
      description: "Probe of the public addresses",
      expression: "rate(1 minute)",
    });
    this.lambda = lambda;
  }
}
