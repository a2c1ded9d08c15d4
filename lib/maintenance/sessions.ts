import { expiry } from "./step.ts";

/** Few at a time, as each takes its refresh tokens with it. */
const fewAtOnce = 100;

/** Takes away employees' sessions that ended more than a day ago. */
export const sessions = expiry(
  "employee-sessions",
  fewAtOnce,
  (sql, most) => sql`select employee.expire_sessions(${most}) as rows`,
);
