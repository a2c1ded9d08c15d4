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
