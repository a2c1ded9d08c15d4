import { connect as openSocket } from "node:net";
import postgres from "postgres";
import { cached } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { driverOptions, types } from "#lib/db/credentials.ts";
import { readWorkingCredentials } from "#lib/db/role-login.ts";
import { deadline } from "#lib/deadline.ts";

/** Shorter than the time for a connection, so that one opens with the cached password while the secret cannot be read. */
const readTimeoutMs = 1_500;

/** Expires at once: it is the latest secret that could be read. The driver never handles a password that rejects. */
const latest = (variable: "DATABASE_SECRET_ID" | "CONSOLE_DATABASE_SECRET_ID") =>
  cached("the database's credentials", 0, () =>
    deadline(readWorkingCredentials(getSetting(variable)), readTimeoutMs),
  );
/** Of the process, and of the messenger's console. */
const logins = { own: latest("DATABASE_SECRET_ID"), console: latest("CONSOLE_DATABASE_SECRET_ID") };

/** While the database is down, queries fail soon, so that callers can retry. */
const connectTimeoutSeconds = 3;

/**
 * Opens a socket that closes after one to two such times without an answer. If the server has vanished, TCP alone
 * would repeat a statement for 15 minutes, and callers would wait for it.
 */
const openWatched = (host: string, port: number, silenceMs: number) => {
  const socket = openSocket(port, host);
  let bytes = -1;
  // counts bytes: TLS takes over the socket and its events
  const timer = setInterval(() => {
    if (socket.bytesRead === bytes) socket.destroy();
    if (socket.destroyed) clearInterval(timer);
    bytes = socket.bytesRead;
  }, silenceMs).unref();
  // the driver verifies the certificate for this name
  return Object.assign(socket, { host });
};

/**
 * Opens a pool for the role in `DATABASE_SECRET_ID`, or for the console's, in a long-running process. Each new connection
 * reads the secret, so that it uses a rotated password; while that fails, it uses the last one.
 *
 * @param max number of connections.
 * @param onClose called when a connection closes.
 * @param silenceMs limit of the time without an answer; longer than the role's statement timeout. None by default.
 */
export const connect = async (
  max: number,
  onClose?: () => void,
  silenceMs?: number,
  login: keyof typeof logins = "own",
): Promise<postgres.Sql> => {
  const credentials = logins[login];
  const options = driverOptions(await credentials.get());
  return postgres({
    ...options,
    password: async () => (await credentials.get()).password,
    max,
    types,
    connect_timeout: connectTimeoutSeconds,
    backoff: () => 0.2,
    ...(onClose && { onclose: onClose }),
    ...(silenceMs !== undefined && {
      socket: () => openWatched(options.host, options.port, silenceMs),
      // the driver closes an idle connection first
      idle_timeout: (silenceMs * 0.8) / 1_000,
    }),
  });
};
