import { expiry } from "./step.ts";

/** Takes away what is kept of logins and tickets that failed more than a day ago. */
export const attempts = expiry(
  "employee-attempts",
  5_000,
  (sql, most) => sql`select employee.expire_attempts(${most}) as rows`,
);
