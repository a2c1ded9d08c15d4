import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { connectionTo, tlsSetting } from "#lib/db/credentials.ts";
import { readWorkingCredentials } from "#lib/db/role-secret.ts";

const readNow = () => readWorkingCredentials(getSetting("DATABASE_SECRET_ID"));

/** While the database is down, queries fail soon, so that callers can retry. */
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
 * Opens a pool for the role in `DATABASE_SECRET_ID`, for a long-running process. Each new connection reads the secret,
 * so that it uses a rotated password.
 *
 * @param max number of connections.
 * @param onClose called when a connection closes.
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
