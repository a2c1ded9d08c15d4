import { CloudWatchLogsClient, paginateFilterLogEvents } from "@aws-sdk/client-cloudwatch-logs";
import * as z from "zod/mini";
import { CommandError, explainAwsError } from "./command.ts";
import { findJobsStack } from "./jobs-stack.ts";

/** A seal as the maintenance function logged it: who can change the database cannot change the log. */
const LoggedSeal = z.object({ message: z.literal("audit sealed"), seal: z.string(), digest: z.string() });
export type LoggedSeal = z.infer<typeof LoggedSeal>;

/** Finds the logged seals in lines of a log; other lines are skipped. */
export const findLoggedSeals = (lines: readonly string[]): LoggedSeal[] =>
  lines.flatMap((line) => {
    try {
      return [LoggedSeal.parse(JSON.parse(line.slice(line.indexOf("{"))))];
    } catch {
      return [];
    }
  });

/** Reads the logged seals of a stage from CloudWatch Logs. @throws CommandError if AWS does not answer. */
export const readLoggedSeals = async (stage: string): Promise<LoggedSeal[]> => {
  const lines: string[] = [];
  try {
    const { maintenanceLog: logGroupName } = await findJobsStack(stage);
    const pages = paginateFilterLogEvents(
      { client: new CloudWatchLogsClient({}) },
      { logGroupName, filterPattern: '"audit sealed"' },
    );
    for await (const { events = [] } of pages) lines.push(...events.map(({ message = "" }) => message));
  } catch (error) {
    throw new CommandError(`The log of stage ${stage} cannot be read: ${explainAwsError(error)}`);
  }
  return findLoggedSeals(lines);
};
