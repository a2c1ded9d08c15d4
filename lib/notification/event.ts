import * as z from "zod/mini";

/** The input of each schedule; the time is EventBridge Scheduler's `<aws.scheduler.scheduled-time>`. */
export const ScheduleInput = z.object({
  job: z.string().check(z.maxLength(100)),
  scheduled_time: z
    .string()
    .check(z.refine((text) => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)))),
});
export type ScheduleInput = z.infer<typeof ScheduleInput>;

/** `detail-type` of the event with which another system requests a single notification. */
export const requestedType = "NotificationRequested";

/** The `detail` of that event. */
export const Requested = z.object({
  /** Idempotency key of the sender; defaults to the event's id. */
  request_id: z.optional(z.string().check(z.regex(/^[!-~]{1,200}$/))),
  template: z.string().check(z.maxLength(100)),
  /** Digits with country code. */
  phone: z.string(),
  values: z.record(z.string(), z.unknown()),
});

/** The fields of the bus event that are used. */
export const RequestedEvent = z.object({
  id: z.string(),
  "detail-type": z.literal(requestedType),
  /** ISO 8601 with zone. */
  time: z.string(),
  detail: z.unknown(),
});
export type RequestedEvent = z.infer<typeof RequestedEvent>;
