import type { Context } from "aws-lambda";
import { maintain } from "#lib/maintenance/maintain.ts";

/** Does the scheduled upkeep of the database: `lib/maintenance/steps.ts` says what. */
export const handler = (_event: unknown, context: Context) => maintain(context.getRemainingTimeInMillis());
