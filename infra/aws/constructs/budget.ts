import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Construct } from "constructs";
import type { Config } from "../config.ts";

/** What is told at how much of the budget, in per cent. */
const notices = [
  { notificationType: "ACTUAL", threshold: 80 },
  { notificationType: "FORECASTED", threshold: 100 },
] as const;

/**
 * What the account may cost a month. Not the stage alone: that would take a tag that somebody has to declare in the
 * account's billing, and a budget that counts nothing until then. One that counts too much rings too early.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { stage, monthlyBudgetUsd, alarmEmail }: Config) {
    super(scope, id);
    new CfnBudget(this, "Monthly", {
      budget: {
        budgetName: `municipal-${stage}`,
        budgetType: "COST",
        timeUnit: "MONTHLY",
        budgetLimit: { amount: monthlyBudgetUsd, unit: "USD" },
      },
      notificationsWithSubscribers: notices.map((notice) => ({
        notification: { ...notice, thresholdType: "PERCENTAGE", comparisonOperator: "GREATER_THAN" },
        subscribers: [{ subscriptionType: "EMAIL", address: alarmEmail }],
      })),
    });
  }
}
