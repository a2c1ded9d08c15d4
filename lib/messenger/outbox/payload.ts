import type postgres from "postgres";
import type { Sealing } from "#lib/encryption.ts";
import { underWay } from "./outcome.ts";

/** Keeps what goes out, so that a second send is byte for byte the first. @returns false for a leader no more. */
export const storePayload = async (
  sql: postgres.Sql,
  epoch: number,
  id: string,
  payload: Uint8Array,
): Promise<boolean> => {
  const { count } = await sql`
    insert into messaging.payload (seq, bytes)
    -- locked, so that the next leader takes the message before or after this
    select seq, ${payload as Buffer} from messaging.message where ${underWay(sql, id, epoch)} for share
    on conflict (seq) do update set bytes = excluded.bytes`;
  return count === 1;
};

const findSealed = async (sql: postgres.Sql, id: string): Promise<Uint8Array | undefined> => {
  const [row] = await sql<{ bytes: Uint8Array }[]>`
    select bytes from messaging.message join messaging.payload using (seq) where id = ${id}`;
  return row?.bytes;
};

const placeOf = (id: string) => `message/${id}`;

/** What goes out, sealed in the outbox. */
export const payloadStore = (sql: postgres.Sql, sealing: Sealing) => ({
  seal: (id: string, payload: Uint8Array): Uint8Array => sealing.seal(placeOf(id), payload),
  open: (id: string, sealed: Uint8Array): Uint8Array => sealing.open(placeOf(id), sealed),
  async find(id: string): Promise<Uint8Array | undefined> {
    const sealed = await findSealed(sql, id);
    return sealed && sealing.open(placeOf(id), sealed);
  },
});
