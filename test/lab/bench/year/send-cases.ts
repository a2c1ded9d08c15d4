import {
  explainQueue,
  listAwaited,
  OpenFrom,
  Rotation,
  releaseDue,
  takeNext,
} from "#lib/messenger/outbox/next.ts";
import { addWaitReasons } from "#lib/messenger/send/wait-reason.ts";
import type { Ground, Measurable } from "./groups.ts";
import { type Case, withoutEffect } from "./measure.ts";
import { addOpen, type Kind, restrictions } from "./open-messages.ts";

const lanes = ["code", "other", "upload"] as const;
/** All, and the codes and transactional messages alone, as near the end of the day's room for new contacts. */
const everybody = 3;
const atLimit = 1;

/** What looks for the next message, by what waits meanwhile. */
export async function* sendCases({ owner, sql, parts }: Ground): AsyncGenerator<Measurable> {
  const rotation = new Rotation();
  const find = () => new OpenFrom().find(sql);
  const look = (beside: string): Case[] => [
    { name: `send: where open messages begin, ${beside}`, run: find },
    {
      name: `send: accounts for which one waits, ${beside}`,
      run: async () => listAwaited(sql, [1, 2, 3], openFrom),
    },
  ];
  let openFrom = 0;
  const take = (what: string, newContactsUpTo: number, poolUpTo?: number) =>
    withoutEffect(sql, {
      name: `send: take the next, ${what}`,
      run: async (inside) => {
        const taken = await takeNext(inside, {
          ...{ epoch: 1, lanes, underWay: [], rotation, openFrom, poolUpTo },
          ...restrictions(1, newContactsUpTo),
        });
        if ((taken === undefined) !== isEmpty) throw new Error(`${what}: ${taken?.id ?? "none"} was taken`);
      },
    });
  /** Whether the account may send none of those that wait. */
  let isEmpty = true;
  const explain = async (what: string, kind: Kind) => {
    const rows = await owner<{ id: string }[]>`
      select id from messaging.message where is_open and quiet_hours is ${kind === "quiet" ? owner`not null` : owner`null`}
        and held_until is ${kind === "quiet" || kind === "scheduled" ? owner`not null` : owner`null`} order by seq desc limit 50`;
    const ids = rows.map(({ id }) => id);
    const messages = ids.map((id) => ({ id, status: "PENDING" as const, accepted_at: "", changed_at: "" }));
    return [
      { name: `send: why 50 wait, ${what}`, run: () => explainQueue(sql, restrictions(1, atLimit), ids) },
      { name: `messages: why 50 wait, ${what}`, run: () => addWaitReasons(sql, new Map(), messages) },
    ];
  };
  const add = async (kind: Kind) => {
    await addOpen(owner, kind, parts);
    openFrom = await find();
  };

  yield* look("nothing waits");
  yield take("nothing waits", everybody);
  await add("due");
  isEmpty = false;
  yield* look("due messages");
  yield take("due messages", everybody);
  yield* await explain("due messages", "due");
  // as if they had been sent
  await owner`update messaging.message set state = 'READ', sent_at = now() where is_open`;
  await owner`vacuum (analyze) messaging.message`;
  await add("newContacts");
  isEmpty = true;
  yield* look("only new contacts");
  yield take("only new contacts, the limit is reached", atLimit, atLimit);
  yield take("only new contacts, the limit is reached, the pool's whole queue", atLimit);
  isEmpty = false;
  yield take("only new contacts, no limit", everybody);
  yield* await explain("only new contacts", "newContacts");
  await add("due");
  yield* look("new contacts too");
  yield take("new contacts too, the limit is reached", atLimit, atLimit);
  yield take("new contacts too, the limit is reached, the pool's whole queue", atLimit);
  await add("scheduled");
  yield* look("scheduled ones too");
  yield take("scheduled ones too", atLimit, atLimit);
  yield* await explain("scheduled ones", "scheduled");
  await add("quiet");
  yield* look("quiet hours too");
  yield take("quiet hours too", atLimit, atLimit);
  yield* await explain("quiet hours", "quiet");
  yield { name: "send: release what is due, nothing", run: () => releaseDue(sql) };
  yield withoutEffect(sql, {
    name: "send: release what is due, 999 at the end of quiet hours",
    before: (inside) => inside`
      update messaging.message set held_until = now(), not_before = now() where seq in (
        select seq from messaging.message where is_open and held_until is not null and quiet_hours is not null limit 999)`,
    run: (inside) => releaseDue(inside),
    most: 20,
  });
  yield withoutEffect(sql, {
    name: "send: release what is due, all at the end of quiet hours",
    before: (inside) => inside`
      update messaging.message set held_until = now(), not_before = now()
      where is_open and held_until is not null and quiet_hours is not null`,
    run: (inside) => releaseDue(inside),
    most: 3,
  });
  await owner`vacuum (analyze) messaging.message`;
}
