import { createHash } from "node:crypto";
import { CfnBudget } from "aws-cdk-lib/aws-budgets";
import { Construct } from "constructs";
import type { Config } from "../config.ts";

/** The notifications, by their threshold in per cent of the budget. */
const notices = [
  { notificationType: "ACTUAL", threshold: 80 },
  { notificationType: "FORECASTED", threshold: 100 },
] as const;

/**
 * The monthly budget of the whole account. A budget for the stage alone needs a cost allocation tag that somebody
 * must activate in billing, and counts nothing until then; one that counts too much only alerts too early.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { stage, monthlyBudgetUsd, alarmEmail }: Config) {
    super(scope, id);
    // another address replaces the budget, and the new one is created before the old one is deleted
    const recipient = createHash("sha256").update(alarmEmail).digest("hex").slice(0, 8);
    new CfnBudget(this, "Monthly", {
      budget: {
        budgetName: `municipal-${stage}-${recipient}`,
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
