import type postgres from "postgres";
import { Submission } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import type { Lane, Outgoing } from "#lib/messenger/outbox/message.ts";
import { type Choice, Rotation, releaseDue, takeNext } from "#lib/messenger/outbox/next.ts";
import { storeMessages } from "#lib/messenger/outbox/store.ts";

/** The city's number in these tests. */
export const number = "6281100000001";

/** Stores a text in the outbox. */
export const putMessage = async (
  sql: postgres.Sql,
  id: string,
  more: Partial<Submission> = {},
): Promise<void> => {
  const submission = Submission.parse({
    sender: "api:test",
    kind: "text",
    phone: "6281200000001",
    text: "x",
    ...more,
  });
  await storeMessages(sql, [{ id, submission, mediaId: null }]);
};

/** Starts the term of an account's leader. @returns its epoch */
export const beginTerm = async (sql: postgres.Sql, account = firstAccount): Promise<number> => {
  const [row] = await sql<{ epoch: number }[]>`
    insert into messaging.leadership (account, holder) values (${account}, 'test')
    on conflict (account) do update set epoch = excluded.epoch returning epoch`;
  return row?.epoch ?? 0;
};

/** Takes the next message to any number. */
export const takeAny = async (
  sql: postgres.ISql,
  epoch: number,
  more: Partial<Choice> = {},
): Promise<Outgoing | undefined> => {
  const lanes: readonly Lane[] = ["code", "other", "upload"];
  const any = {
    epoch,
    resting: [],
    account: firstAccount,
    number,
    newContactsUpTo: 3,
    reachable: undefined,
    lanes,
    underWay: [],
    rotation: new Rotation(),
    openFrom: 0,
  };
  await releaseDue(sql as postgres.Sql);
  return takeNext(sql as postgres.Sql, { ...any, ...more });
};
