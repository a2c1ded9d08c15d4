import * as z from "zod/mini";
import { isZoneName } from "#lib/time-zone.ts";

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

/** Seconds after which WhatsApp lets a message disappear: never, 24 hours, 7 days, 90 days (whatsapp-rust #450). */
const durations = [0, 86_400, 604_800, 7_776_000] as const;

/** Returns the next longer duration that phones know, or the longest: with another one a phone may show a message for ever. */
export const toKnownDuration = (seconds: number): number =>
  durations.find((known) => known >= seconds) ?? durations[3];

const clock = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

/** Hours in which a message is not sent, in a time zone; it is sent at their end. */
export const QuietHours = z
  .object({
    /** `HH:MM`; if later than `to`, the hours span midnight. */
    from: clock,
    to: clock,
    /** IANA name, such as `Asia/Jakarta`. */
    time_zone: z.string().check(z.refine(isZoneName)),
  })
  .check(z.refine(({ from, to }) => from !== to));
export type QuietHours = z.infer<typeof QuietHours>;
