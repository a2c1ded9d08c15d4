import { attempts } from "./attempts.ts";
import { auditSteps } from "./audit.ts";
import { notifications } from "./notifications.ts";
import { residentSteps } from "./residents.ts";
import { sessions } from "./sessions.ts";
import type { Step } from "./step.ts";

/** Everything that is looked after, in this order. */
export const steps: readonly Step[] = [attempts, sessions, notifications, ...residentSteps, ...auditSteps];
