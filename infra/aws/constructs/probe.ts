import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { probe } from "#lib/routes/internal.ts";
import { NodeFunction, type StackContext } from "./node-function.ts";
import { Schedules } from "./schedules.ts";

export interface ProbeProps extends StackContext {
  /** Public addresses by the variable that names each. */
  readonly addresses: Readonly<Record<string, string>>;
}

/**
 * A function outside the network that asks the public addresses for an answer: names, certificates, firewall, gateway. A
 * canary of CloudWatch Synthetics would do the same for a hundred times the price, and needs a bucket.
 */
export class Probe extends Construct {
  readonly lambda: IFunction;

  constructor(scope: Construct, id: string, { addresses, ...stackContext }: ProbeProps) {
    super(scope, id);
    const { lambda } = new NodeFunction(this, { ...stackContext, ...probe, environment: addresses });
    lambda.configureAsyncInvoke({ retryAttempts: 0 });
    const group = ScheduleGroup.fromScheduleGroupName(
      this,
      "Schedules",
      `municipal-${stackContext.config.stage}`,
    );
    new Schedules(this, "Timetable", { group, lambda }).add("Schedule", {
      description: "Probe of the public addresses",
      expression: "rate(1 minute)",
    });
    this.lambda = lambda;
  }
}
