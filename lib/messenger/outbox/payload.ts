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
    update messaging.message set payload = ${payload as Buffer}
    where ${underWay(sql, id, epoch)}`;
  return count === 1;
};

const findSealed = async (sql: postgres.Sql, id: string): Promise<Uint8Array | undefined> => {
  const [row] = await sql<{ payload: Uint8Array | null }[]>`
    select payload from messaging.message where id = ${id}`;
  return row?.payload ?? undefined;
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
