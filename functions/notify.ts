import type { Context } from "aws-lambda";
import { notify } from "#lib/notification/notify.ts";

/** Sends notifications: to the recipients of a scheduled job, or the one that an event requests. */
export const handler = (event: unknown, context: Context) =>
  notify(event, context.getRemainingTimeInMillis());
