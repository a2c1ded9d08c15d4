import type { Context } from "aws-lambda";
import { notify } from "#lib/notification/notify.ts";

/** Sends notifications: the recipients of a job at a scheduled time, or the one that an event asks for. */
export const handler = (event: unknown, context: Context) =>
  notify(event, context.getRemainingTimeInMillis());
