import type postgres from "postgres";
import type { ChannelName } from "#lib/messaging/channel.ts";
import type { Encryption } from "#lib/messenger/outbox/encryption.ts";
import { isBeingSent } from "./lifecycle.ts";
import type { Outgoing } from "./message.ts";

/** Stores an encrypted payload, so that every send uses the same bytes. @returns false for a former leader. */
export const storePayload = async (
  sql: postgres.Sql,
  { id, epoch }: Pick<Outgoing, "id" | "epoch">,
  channel: ChannelName,
  payload: Uint8Array,
): Promise<boolean> => {
  const { count } = await sql`
    insert into messaging.payload (seq, channel, bytes, drop_at)
    -- locked, so that the next leader takes the message before or after this
    select seq, ${channel}, ${payload as Buffer}, case when priority = 0 then expires_at end from messaging.message where ${isBeingSent(sql, id, epoch)} for share
    on conflict (seq, channel) do update set bytes = excluded.bytes`;
  return count === 1;
};

const findEncrypted = async (
  sql: postgres.Sql,
  id: string,
  condition: postgres.Fragment,
): Promise<Uint8Array | undefined> => {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes from messaging.message join messaging.payload using (seq)
    where id = ${id} and channel = 'whatsapp' and bytes <> '' and ${condition}`;
  return row?.bytes;
};

const contextOf = (id: string) => `message/${id}`;
const textContextOf = (id: string) => `text/${id}`;

export const payloadStore = (sql: postgres.Sql, encryption: Encryption) => ({
  encrypt: (id: string, payload: Uint8Array): Uint8Array => encryption.encrypt(contextOf(id), payload),
  decrypt: (id: string, encrypted: Uint8Array): Uint8Array => encryption.decrypt(contextOf(id), encrypted),
  /** @returns the encrypted text as base64. */
  sealText: (id: string, text: string): string =>
    encryption.encrypt(textContextOf(id), Buffer.from(text)).toString("base64"),
  openText: (id: string, sealed: string): string =>
    encryption.decrypt(textContextOf(id), Buffer.from(sealed, "base64")).toString(),
  /**
   * Finds that of a message that a phone requests again.
   *
   * @returns undefined for one that has expired or was read: nobody may see an old code or status as a new one.
   */
  async findToRepeat(id: string): Promise<Uint8Array | undefined> {
    const encrypted = await findEncrypted(sql, id, sql`expires_at > now() and state <> 'READ'`);
    return encrypted && encryption.decrypt(contextOf(id), encrypted);
  },
  /** Finds that of a message to a number, such as one that is replied to. */
  async find(id: string, phone: string): Promise<Uint8Array | undefined> {
    const encrypted = await findEncrypted(sql, id, sql`phone = ${phone}`);
    return encrypted && encryption.decrypt(contextOf(id), encrypted);
  },
});
