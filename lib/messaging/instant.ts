const pattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;
const msPerMinute = 60_000;

/**
 * Reads a time as RFC 3339 writes it, with `Z` or an offset; a fraction is cut off after milliseconds.
 *
 * @returns undefined for anything else, also for days and hours that do not exist and for a leap second, which neither
 * JavaScript nor PostgreSQL can represent.
 */
export const readInstant = (text: string): Date | undefined => {
  const [, day, clock, fraction = "", sign, hours, minutes] = pattern.exec(text) ?? [];
  const local = new Date(`${day}T${clock}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  // JavaScript reads 30 February as 2 March, and 24:00 as the next day
  if (Number.isNaN(local.getTime()) || !local.toISOString().startsWith(`${day}T${clock}`)) return undefined;
  const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * msPerMinute;
  return new Date(local.getTime() - (sign === "-" ? -offsetMs : offsetMs));
};

const maxAheadMs = 30 * 24 * 60 * msPerMinute;

/** Whether a message may be sent as late as this. @param skewMs between this clock and the one that checked it before. */
export const isWithinReach = (at: string, skewMs = 0): boolean =>
  new Date(at).getTime() <= Date.now() + maxAheadMs + skewMs;
