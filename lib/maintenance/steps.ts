import { auditSteps } from "./audit.ts";
import { residentSteps } from "./residents.ts";
import { expiry, type Step } from "./step.ts";

/** All maintenance steps, in order. */
export const steps: readonly Step[] = [
  expiry("employee-attempts", 5_000, (sql, size) => sql`select employee.expire_attempts(${size}) as rows`),
  // a small batch, because each session is deleted with its refresh tokens
  expiry("employee-sessions", 100, (sql, size) => sql`select employee.expire_sessions(${size}) as rows`),
  expiry("notifications", 5_000, (sql, size) => sql`select notification.expire(${size}) as rows`),
  expiry("operator-acts", 5_000, (sql, size) => sql`select messaging.expire_acts(${size}) as rows`),
  expiry("read-counts", 5_000, (sql, size) => sql`select resident.expire_counts(${size}) as rows`),
  ...residentSteps,
  ...auditSteps,
];
