import type postgres from "postgres";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { cityPool, maxPlanDays, maxPlanned, priorities } from "#lib/messaging/submission.ts";
import { steadyNow } from "#lib/steady-clock.ts";
import { loadHistory } from "./history.ts";
import { type Pace, paceOf } from "./pace.ts";
import { Pacing } from "./pacing.ts";

const dayMs = 24 * 60 * 60_000;
const averageGap = () => 0.5;

/** Returns when a bulk message to a new contact may be sent. */
const newContactAt = (pacing: Pacing, now: number): number => {
  const message = { phone: "", isNewContact: true, priority: priorities.bulk };
  return Math.max(...pacing.listObstacles(message, now).map(({ until }) => until));
};

/**
 * Forecasts in how many days bulk messages can be sent, by sending them in thought: known contacts go on while new ones wait
 * for their budget.
 *
 * @param pacing is used up.
 * @param areNew whether each goes to a new contact, in the order in which they are handed over.
 * @returns days in the same order; `maxPlanDays` for later, and for a limit without a known end.
 */
export const forecastDays = (pacing: Pacing, areNew: readonly boolean[], now: number): number[] => {
  const days: number[] = areNew.map(() => maxPlanDays);
  const places = areNew.map((isNew, place) => ({ isNew, place }));
  // popped from the end, which takes no time
  const fresh = places.filter(({ isNew }) => isNew).reverse();
  const known = places.filter(({ isNew }) => !isNew).reverse();
  let at = now;
  while (fresh.length + known.length > 0) {
    at = Math.max(at, pacing.nextAt(at));
    if (at >= now + maxPlanDays * dayMs) break;
    const [newOne, knownOne] = [fresh.at(-1), known.at(-1)];
    const isFirst = newOne !== undefined && (!knownOne || newOne.place < knownOne.place);
    const mayBeNew = newOne !== undefined && pacing.newContactsUpTo(at) >= priorities.bulk;
    if (!mayBeNew && !knownOne) {
      at = newContactAt(pacing, at);
      continue;
    }
    const next = mayBeNew && isFirst ? fresh.pop() : (known.pop() ?? fresh.pop());
    if (next) days[next.place] = Math.floor((at - now) / dayMs);
    pacing.recordSend("planned", next?.isNew === true, at);
  }
  return days;
};

/** Lists the city's numbers that bulk messages are sent from now; while none can send, the one that has sent last. */
const listNumbers = async (
  sql: postgres.Sql,
): Promise<{ readonly number: string; readonly channel: ChannelName }[]> => {
  const rows = await sql<{ number: string; channel: ChannelName }[]>`
    select number, channel from messaging.account
    where pool = ${cityPool} and messaging.can_send(id) and messaging.takes_from_pool(id) order by id`;
  if (rows.length > 0) return rows;
  const [last] = await sql<{ number: string }[]>`
    select number from messaging.message where sent_at is not null order by sent_at desc limit 1`;
  return [{ number: last?.number ?? "", channel: "whatsapp" }];
};

/** Chooses the numbers that new contacts are shared by: those that can write to one within a day of the first that can. */
const chooseForNew = (pacings: ReadonlyMap<string, Pacing>, now: number): string[] => {
  const times = [...pacings].map(([number, pacing]) => ({ number, at: newContactAt(pacing, now) }));
  const first = Math.max(now, Math.min(...times.map(({ at }) => at)));
  return times.filter(({ at }) => at <= first + dayMs).map(({ number }) => number);
};

/**
 * Plans bulk messages to these numbers after all that wait, by the same history and limits as the sender's. New contacts are
 * taken to be shared equally by the accounts that can write to them.
 */
export const planMessages = async (
  sql: postgres.Sql,
  pace: Pace,
  phones: readonly string[],
): Promise<number[]> => {
  const accounts = await listNumbers(sql);
  const numbers = accounts.map(({ number }) => number);
  const knownBy = (phone: postgres.Fragment) => sql`(
    select c.number from messaging.contact c
    where c.number = any(string_to_array(${numbers.join()}, ',')) and c.phone = ${phone} limit 1) as known`;
  const waiting = await sql<{ known: string | null }[]>`
    select ${knownBy(sql`m.phone`)} from messaging.message m
    where is_open and pool = ${cityPool} order by priority, seq limit ${maxPlanned}`;
  const wanted = await sql<{ known: string | null }[]>`
    select ${knownBy(sql`given.phone`)}
    from unnest(string_to_array(${phones.join()}, ',')) with ordinality given (phone, place) order by place`;
  const now = steadyNow();
  const pacings = new Map<string, Pacing>();
  for (const { number, channel } of accounts)
    pacings.set(number, new Pacing(paceOf(pace, channel), await loadHistory(sql, number), averageGap));
  const forNew = chooseForNew(pacings, now);
  const all = [...waiting, ...wanted].map(({ known }, place) => ({
    ...{ place, isNew: known === null },
    number: known ?? forNew[place % forNew.length],
  }));
  const days = all.map(() => maxPlanDays);
  for (const [number, pacing] of pacings) {
    const own = all.filter((one) => one.number === number);
    const areNew = own.map(({ isNew }) => isNew);
    for (const [index, day] of forecastDays(pacing, areNew, now).entries())
      days[own[index]?.place ?? days.length] = day;
  }
  return days.slice(waiting.length);
};
