import type { Channel } from "#lib/channels/channel.ts";
import type { Restrictions } from "../outbox/next.ts";
import type { Pacing } from "./pacing.ts";

interface Sending {
  readonly account: number;
  readonly pacing: Pacing;
  readonly channel: Pick<Channel, "directory">;
}

/** What the pace and the outages of the platform's directory let the outbox choose from. */
export const restrictionsAt = ({ account, pacing, channel }: Sending, now: number): Restrictions => ({
  account,
  resting: pacing.coolingDown(now),
  number: pacing.number ?? "",
  newContactsUpTo: pacing.newContactsUpTo(now),
  reachable: now < pacing.outages.until("directory") ? channel.directory?.listReachable() : undefined,
});
