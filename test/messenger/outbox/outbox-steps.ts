import type postgres from "postgres";
import { beforeEach, expect } from "vitest";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { Submission } from "#lib/messaging/submission.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import type { Choice } from "#lib/messenger/outbox/next.ts";
import { storePayload } from "#lib/messenger/outbox/payload.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { beginTerm, putMessage, takeAny } from "../../fleet/outbox-rows.ts";

/*
 * What the tests of the outbox share: a database, and a leader that takes messages from it.
 */

export let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
export let sql: postgres.Sql;
/** The term of the account's leader. */
export let epoch: number;

/** Creates the outbox of each test. */
export const useOutbox = (connections = 2) =>
  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(connections);
    epoch = await beginTerm(sql);
  });

/** Stores a text. */
export const put = (id: string, more: Partial<Submission> = {}): Promise<void> => putMessage(sql, id, more);

/** Takes the next message. @param more that the leader demands of it @param term another leader's */
export const take = async (more: Partial<Choice> = {}, term = epoch): Promise<Outgoing> =>
  (await takeAny(sql, term, more)) ?? expect.fail("nothing was taken");

/** Stores the payload of a message that was taken: from then on a frame may leave. */
export const prepare = ({ id, epoch }: Pick<Outgoing, "id" | "epoch">, channel: ChannelName = "whatsapp") =>
  storePayload(sql, { id, epoch }, channel, Buffer.from("payload"));

/** The state of each message, by id. */
export const listStates = async (): Promise<Record<string, string>> => {
  const rows = await sql<{ id: string; state: string }[]>`select id, state from messaging.message`;
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
};
