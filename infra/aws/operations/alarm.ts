import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";

/** A row of the table of alarms. */
export interface AlarmRow {
  /** Last part of the alarm's name. */
  readonly name: string;
  /** What is wrong and who is affected, for the operator on call. */
  readonly says: string;
  /** Anchor in `infra/RUNBOOK.md`: meaning, where to look, how to fix it. The name by default. */
  readonly section?: string;
  /** The metric's period is the alarm's period. */
  readonly metric: IMetric;
  /** The threshold: at least, or below. */
  readonly rings: { readonly atLeast: number } | { readonly below: number };
  /** Number of consecutive periods; 1 by default. */
  readonly periods?: number;
  /** `bad`: missing data raises the alarm, as for a heartbeat; one per source that can stop reporting. By default it is good. */
  readonly silence?: "bad";
}
