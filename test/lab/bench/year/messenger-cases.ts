import { acceptCases } from "./accept-cases.ts";
import { accountCases } from "./account-cases.ts";
import { bulkCases } from "./bulk-cases.ts";
import { callbackCases } from "./callback-cases.ts";
import { consoleCases } from "./console-cases.ts";
import type { Ground, Measurable } from "./groups.ts";
import { queryCases } from "./query-cases.ts";
import { sendCases } from "./send-cases.ts";
import { settleCases } from "./settle-cases.ts";
import { sweepCases } from "./sweep-cases.ts";

/** In this order: sending adds the messages that wait, of which the others find all, and retention comes last. */
export async function* messengerCases(ground: Ground): AsyncGenerator<Measurable> {
  yield* sendCases(ground);
  yield* queryCases(ground);
  yield* consoleCases(ground);
  yield* acceptCases(ground);
  yield* settleCases(ground);
  yield* accountCases(ground);
  yield* bulkCases(ground);
  yield* callbackCases(ground);
  yield* sweepCases(ground);
}
