import type { Context } from "aws-lambda";
import { maintain } from "#lib/maintenance/maintain.ts";

/** Runs the scheduled maintenance of the database; `lib/maintenance/maintain.ts` lists the steps. */
export const handler = (_event: unknown, context: Context) => maintain(context.getRemainingTimeInMillis());
