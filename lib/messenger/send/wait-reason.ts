import type postgres from "postgres";
import { steadyNow } from "#lib/deadline.ts";
import type { MessageState, WaitReason } from "#lib/messaging/submission.ts";
import type { ObstacleName } from "../outbox/message.ts";
import { restrictionsAt } from "./restrictions.ts";
import { type Limited, limitsOf, type Sending } from "./waiting.ts";

/** What any task knows of a message that waits. */
interface Held extends Omit<Limited, "isNewContact" | "isReachable"> {
  readonly id: string;
  readonly isOn: boolean;
  /** When it may be taken, if that is in the future. */
  readonly notBefore: Date | null;
  /** Whether it waits for its next attempt until then. */
  readonly wasTried: boolean;
  /** Those that may take it and are connected. */
  readonly accounts: readonly { readonly id: number; readonly isNewContact: boolean }[];
}

/** Those that only the leader of an account knows. The others are the pace. */
const limitReasons: Partial<Record<ObstacleName, WaitReason>> = {
  "media-outage": "platform_outage",
  "directory-outage": "platform_outage",
  "new-contacts": "new_contact_limit",
  limited: "new_contact_limit",
  "cap-spread": "new_contact_limit",
};

type Led = ReadonlyMap<number, Omit<Sending, "account">>;

const findHeld = (sql: postgres.ISql, ids: readonly string[]) => sql<Held[]>`
  with connected as materialized (
    select id, number, pool, messaging.takes_from_pool(id) as takes from messaging.account own
    where messaging.is_ready(own) and down_since is null
  )
  select id, phone, priority, lane, epoch is not null as "wasTried",
    not exists (select from messaging.control where paused) as "isOn",
    case when not_before > now() then not_before end as "notBefore", coalesce((
      select jsonb_agg(jsonb_build_object('id', c.id, 'isNewContact', not exists (
        select from messaging.contact known where known.number = c.number and known.phone = waiting.phone)))
      from connected c
      where case when waiting.account is null then c.takes and c.pool = waiting.pool else c.id = waiting.account end
    ), '[]') as accounts
  -- also one that was taken since: its caller learns that it is PENDING
  from messaging.message waiting where id = any(string_to_array(${ids.join()}, ','))`;

/** @returns undefined also where another task leads an account that may take the message: that one knows its limits. */
const findLimit = (held: Held, led: Led, now: number): WaitReason | undefined => {
  const limits = held.accounts.map(({ id: account, isNewContact }) => {
    const leadership = led.get(account);
    if (!leadership) return undefined;
    const sending = { account, ...leadership };
    const isReachable = restrictionsAt(sending, now).reachable?.includes(held.phone) ?? true;
    const found = limitsOf({ ...held, isNewContact, isReachable }, sending, now);
    return found.map(({ name }) => limitReasons[name]).find((reason) => reason !== undefined);
  });
  return limits.includes(undefined) ? undefined : limits[0];
};

const explain = (held: Held, led: Led, now: number): Pick<MessageState, "waiting_for" | "not_before"> => {
  const { isOn, notBefore, wasTried, accounts } = held;
  const until = notBefore ? { not_before: notBefore.toISOString() } : {};
  if (notBefore && !wasTried) return { waiting_for: "scheduled", ...until };
  if (!isOn) return { waiting_for: "paused" };
  if (accounts.length === 0) return { waiting_for: "account_not_connected" };
  const limit = findLimit(held, led, now);
  if (limit) return { waiting_for: limit };
  return notBefore ? { waiting_for: "retry", ...until } : { waiting_for: "pace" };
};

/**
 * Says of messages that are PENDING what they wait for: as far as the database knows it, and for the accounts that this task
 * leads also their limits and outages. It reads these messages alone, not the queue.
 *
 * @param led the accounts that this task leads.
 */
export const addWaitReasons = async (
  sql: postgres.ISql,
  led: Led,
  messages: readonly MessageState[],
): Promise<MessageState[]> => {
  const ids = messages.filter(({ status }) => status === "PENDING").map(({ id }) => id);
  if (ids.length === 0) return [...messages];
  const now = steadyNow();
  const reasons = new Map((await findHeld(sql, ids)).map((held) => [held.id, explain(held, led, now)]));
  return messages.map((message) => ({ ...message, ...reasons.get(message.id) }));
};
