import * as z from "zod/mini";

/** Accepts names only: PostgreSQL and JavaScript interpret offsets such as `+07:00` with opposite signs. */
const isZoneName = (name: string): boolean => {
  if (!/^[A-Z][A-Za-z]+(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
};

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
