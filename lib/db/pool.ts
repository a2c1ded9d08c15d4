import postgres from "postgres";
import { getSetting } from "#lib/config.ts";
import { driverOptions, types } from "#lib/db/credentials.ts";
import { readWorkingCredentials } from "#lib/db/role-login.ts";

const readNow = () => readWorkingCredentials(getSetting("DATABASE_SECRET_ID"));

/** While the database is down, queries fail soon, so that callers can retry. */
const connectTimeoutSeconds = 3;

/**
 * Opens a pool for the role in `DATABASE_SECRET_ID`, for a long-running process. Each new connection reads the secret,
 * so that it uses a rotated password.
 *
 * @param max number of connections.
 * @param onClose called when a connection closes.
 */
export const connect = async (max: number, onClose?: () => void): Promise<postgres.Sql> =>
  postgres({
    ...driverOptions(await readNow()),
    password: async () => (await readNow()).password,
    max,
    types,
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0.2,
    ...(onClose && { onclose: onClose }),
  });
