import { expiry } from "./step.ts";

/** Takes away what is kept of notifications from more than a month ago. */
export const notifications = expiry(
  "notifications",
  5_000,
  (sql, most) => sql`select notification.expire(${most}) as rows`,
);
