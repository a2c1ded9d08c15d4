import type { IMetric } from "aws-cdk-lib/aws-cloudwatch";

/** One alarm of a stage. */
export interface AlarmRow {
  /** Last part of the alarm's name. */
  readonly name: string;
  /** What is wrong and who is hit, for somebody who was woken up by it. */
  readonly says: string;
  /** Heading in `infra/RUNBOOK.md`, with dashes: what it means, where to look, how to mend it. */
  readonly section: string;
  /** Its period is that of the alarm. */
  readonly metric: IMetric;
  /** Rings when the metric is so high, or so low. */
  readonly rings: { readonly atLeast: number } | { readonly below: number };
  /** In how many periods, one after the other; 1 unless it says otherwise. */
  readonly periods?: number;
  /**
   * What it means that there is no figure. `bad` where something is to be heard of all the time, as of a heart;
   * one alarm for each thing that can fall silent is enough. `good` where figures are of what went wrong.
   */
  readonly silence: "bad" | "good";
}
