import { startTask } from "#lib/messenger/task.ts";
import { type Assignment, taskOptions } from "./assignment.ts";

/*
 * A task in a process of its own, which can be killed; passed as JSON in its only argument. Prints its URL, and ends with
 * the process that has started it.
 */
const assignment: Assignment = JSON.parse(process.argv[2] ?? "{}");
const task = await startTask(taskOptions(assignment));
process.stdout.write(`${task.url}\n`);
process.stdin.resume().once("end", () => process.exit(1));
process.once("SIGTERM", async () => {
  await task.stop();
  // baileys leaves timers behind
  process.exit(0);
});
