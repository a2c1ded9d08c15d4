import type { Stage } from "./stage.ts";

/** A text on a phone, once for each channel and platform id. */
export interface Arrival {
  readonly phone: string;
  readonly text: string;
  /** Of the stage; undefined for an SMS. */
  readonly account: number | undefined;
  /** In milliseconds of the epoch. */
  readonly at: number;
}

/** Reads what phones got, by the phones' own times, oldest first. */
export const readArrivals = ({ platform, gateway, accounts }: Stage): readonly Arrival[] => {
  const idOf = new Map(accounts.map(({ id, lid }) => [lid, id]));
  const own = new Set(idOf.keys());
  const shown = platform.phones
    .filter(({ lid }) => !own.has(lid))
    .flatMap(({ number, inbox }) =>
      inbox.map(({ from, text, at }) => ({
        ...{ phone: number, text, at: at.getTime() },
        account: idOf.get(from.replace(/[:@].*/, "")),
      })),
    );
  const sms = gateway.taken.map(({ phone, text, at }) => ({
    ...{ phone, text, at: at.getTime(), account: undefined },
  }));
  return [...shown, ...sms].toSorted((a, b) => a.at - b.at);
};

/** The most arrivals of one account within a minute. */
export const worstMinute = (arrivals: readonly Arrival[], account: number): number => {
  const times = arrivals.filter((one) => one.account === account).map(({ at }) => at);
  let first = 0;
  return times.reduce((most, at, last) => {
    while ((times[first] ?? at) <= at - 60_000) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
};

/** Counts the phones that an account has sent to. */
export const contactsOf = (arrivals: readonly Arrival[], account: number): number =>
  new Set(arrivals.filter((one) => one.account === account).map(({ phone }) => phone)).size;

/**
 * Lists recipients that got a text of another account than the one before, although that one could send.
 *
 * @param endedAt when accounts were banned or unlinked.
 */
export const listChanged = (
  arrivals: readonly Arrival[],
  endedAt: ReadonlyMap<number, number>,
): readonly string[] => {
  const last = new Map<string, number>();
  const changed = new Set<string>();
  for (const { phone, account, at } of arrivals) {
    if (account === undefined) continue;
    const before = last.get(phone) ?? account;
    if (before !== account && at < (endedAt.get(before) ?? Number.POSITIVE_INFINITY)) changed.add(phone);
    last.set(phone, account);
  }
  return [...changed];
};

/** Texts by how often phones got them. */
export const countByText = (arrivals: readonly Arrival[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { text } of arrivals) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
};
