import * as z from "zod/mini";

/** What PostgreSQL and the runtime both know: offsets such as `+07:00` mean opposite things to the two. */
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

/** The hours in which a message is not sent: it goes out at their end. By the clocks of a named time zone. */
export const QuietHours = z
  .object({
    /** `HH:MM`; where it is later than `to`, the hours go over midnight. */
    from: clock,
    to: clock,
    /** IANA name, such as `Asia/Jakarta`. */
    time_zone: z.string().check(z.refine(isZoneName)),
  })
  .check(z.refine(({ from, to }) => from !== to));
export type QuietHours = z.infer<typeof QuietHours>;
