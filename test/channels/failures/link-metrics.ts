import { Counts, readMetrics } from "#lib/messenger/metrics.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { Pacing } from "#lib/messenger/send/pacing.ts";
import type { Task } from "#lib/messenger/task.ts";
import { sql } from "../../fleet/running-task.ts";
import { unusedAccount } from "../../fleet/unused-account.ts";

/** Reads the figures of the link, of which each has an alarm. */
export const figuresOf = async (task: Task) => {
  const whatsApp = task.findLeadership()?.whatsApp;
  if (!whatsApp) throw new Error("the task does not lead");
  const pacing = new Pacing(noPace, unusedAccount);
  const { connected, unlinked, rejected, disconnected, passkey } = await readMetrics({
    ...{
      sql,
      account: { name: "main", channel: "whatsapp" },
      link: whatsApp,
      pacing,
      counts: new Counts(),
    },
  });
  return { connected, unlinked, rejected, disconnected, passkey };
};
