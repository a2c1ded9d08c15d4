import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { connectionTo, tlsSetting } from "#lib/db/credentials.ts";
import { readWorkingCredentials } from "#lib/db/role-secret.ts";

const readNow = () => readWorkingCredentials(getSetting("DATABASE_SECRET_ID"));

/** For as long as the database is away a query fails soon: who waits for it can try again. */
const connectTimeoutSeconds = 3;

const options = {
  ssl: false as "verify-full" | false,
  prepare: true,
  fetch_types: false,
  connect_timeout: connectTimeoutSeconds,
  backoff: () => 0.2,
  onnotice: () => {},
  types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
};

/**
 * Connections of the role in `DATABASE_SECRET_ID`, for a process that is no endpoint. The secret is read for
 * each new connection, so that a rotated password is used by the next one.
 *
 * @param max connections at a time.
 * @param onClose is told when one is closed.
 */
export const connect = async (max: number, onClose?: () => void): Promise<postgres.Sql> => {
  const { password: _, ...address } = connectionTo(await readNow());
  return postgres({
    ...options,
    ...address,
    ssl: tlsSetting(),
    max,
    ...(onClose && { onclose: onClose }),
    password: async () => (await readNow()).password,
  });
};
