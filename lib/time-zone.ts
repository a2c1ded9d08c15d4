/** Of a city in the west of Indonesia. */
export const defaultZone = "Asia/Jakarta";

/** Accepts names only: PostgreSQL and JavaScript interpret offsets such as `+07:00` with opposite signs. */
export const isZoneName = (name: string): boolean => {
  if (!/^[A-Z][A-Za-z]+(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

/** Returns the abbreviation of a zone in Indonesia, such as `WIB`; of others the offset, such as `GMT+8`. */
export const abbreviateZone = (timeZone: string): string =>
  new Intl.DateTimeFormat("id-ID", { timeZone, timeZoneName: "short" })
    .formatToParts(0)
    .find(({ type }) => type === "timeZoneName")?.value ?? timeZone;

/** A Swedish date and time is one of ISO 8601 with a blank. */
const formatLocal = (at: Date, timeZone: string, timeStyle: "short" | "medium"): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle }).format(at);

/** Formats a moment in a zone to the minute, such as `2026-11-26 20:30 WIB`. */
export const formatMinute = (at: Date, timeZone: string): string =>
  `${formatLocal(at, timeZone, "short")} ${abbreviateZone(timeZone)}`;

/**
 * Returns the moment of a local time in a zone; within hours of a change of its clocks it may be wrong by that change.
 *
 * @param local such as `2026-11-26T23:59:59`.
 */
export const momentOf = (local: string, timeZone: string): Date => {
  const asUtc = new Date(`${local}Z`);
  if (Number.isNaN(asUtc.getTime())) return asUtc;
  const there = new Date(`${formatLocal(asUtc, timeZone, "medium").replace(" ", "T")}Z`);
  return new Date(2 * asUtc.getTime() - there.getTime());
};
