import { sweep } from "#lib/messenger/outbox/retention.ts";
import type { Ground, Measurable } from "./groups.ts";
import { watch } from "./measure.ts";

/** Deletes what is no longer needed: first some hours' rows, then nothing. */
export async function* sweepCases({ sql }: Ground): AsyncGenerator<Measurable> {
  const { signal } = new AbortController();
  yield async () => {
    const { watched, rows } = watch(sql);
    await sweep(watched, signal);
    return rows("retention, batches");
  };
  yield async ({ samples }) => {
    const { watched, rows } = watch(sql);
    for (let turn = 0; turn < Math.min(samples, 20); turn++) await sweep(watched, signal);
    return rows("retention, nothing left");
  };
}
