import {
  claimEvents,
  completeEvent,
  disableCallback,
  type Event,
  failEvent,
  giveUpEvents,
  releaseEvent,
} from "#lib/messenger/callback/event.ts";
import type { Ground, Measurable } from "./groups.ts";
import { withoutEffect } from "./measure.ts";

const schedule = {
  ...{ everyMs: 500, leaseSeconds: 60, firstSeconds: 5 },
  ...{ longestSeconds: 3_600, longestOfAddressSeconds: 300 },
};

/** Changes of state that are sent to the senders' addresses, while one address has failed for a day. */
export async function* callbackCases({ owner, sql, parts }: Ground): AsyncGenerator<Measurable> {
  const first = (events: readonly Event[]): Event => {
    const [event] = events;
    if (!event) throw new Error("no event is due");
    return event;
  };
  yield withoutEffect(sql, {
    name: "callbacks: claim eight",
    run: (inside) => claimEvents(inside, [], schedule),
  });
  const retried = (inside: typeof sql) => inside`update messaging.callback set retry_at = now()`;
  yield withoutEffect(sql, {
    name: "callbacks: claim, also one of the address that fails",
    before: retried,
    run: (inside) => claimEvents(inside, [], schedule),
  });
  yield {
    name: "callbacks: nothing is due",
    run: () => claimEvents(sql, [1, 2], schedule),
  };
  let event: Event;
  const claim = async (inside: typeof sql) => {
    event = first(await claimEvents(inside, [2], schedule));
  };
  const claimed = (name: string, run: (inside: typeof sql) => PromiseLike<unknown>) =>
    withoutEffect(sql, { name: `callbacks: ${name}`, before: claim, run });
  yield claimed("complete one", (inside) => completeEvent(inside, event));
  yield claimed("release one", (inside) => releaseEvent(inside, event));
  yield claimed("fail one", (inside) =>
    failEvent(inside, event, { status: 503, isOfAddress: true }, schedule),
  );
  yield withoutEffect(sql, {
    name: "callbacks: give up, nothing",
    before: (inside) =>
      inside`update messaging.callback_event set retry_until = now() + interval '1 hour' where retry_until <= now()`,
    run: (inside) => giveUpEvents(inside),
    most: 20,
  });
  yield withoutEffect(sql, {
    name: "callbacks: give up, an hour's",
    before: (inside) => inside`
      update messaging.callback_event set retry_until = now() where seq in (
        select seq from messaging.callback_event where callback_id = 2 order by seq limit ${Math.ceil(parts.callbackEvents / 24)})`,
    run: (inside) => giveUpEvents(inside),
    most: 5,
  });
  yield withoutEffect(sql, {
    name: "callbacks: disable the address with all its events",
    before: async (inside) => {
      await retried(inside);
      event = first(await claimEvents(inside, [1], schedule));
    },
    run: (inside) => disableCallback(inside, event, 410),
    most: 2,
  });
  await owner`vacuum (analyze) messaging.callback_event`;
}
