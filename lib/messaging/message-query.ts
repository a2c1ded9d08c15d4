import * as z from "zod/mini";
import { instant, maxPageSize, Owner, states } from "./submission.ts";

/** Which of its messages a sender asks for. */
export const MessageQuery = z.object({
  ...Owner.shape,
  state: z.optional(z.enum(states)),
  /** Those accepted at this time or later; ISO 8601 in UTC with milliseconds. */
  since: z.optional(instant),
  /** `next` of the previous page. */
  after: z.optional(z.string().check(z.maxLength(200))),
  limit: z.coerce.number().check(z.int(), z.minimum(1), z.maximum(maxPageSize)),
});
export type MessageQuery = z.infer<typeof MessageQuery>;
