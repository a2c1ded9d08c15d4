/** Error codes of postgres.js, Node and the server for a connection that is lost or does not respond. */
const codes = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "57P01", // admin_shutdown: the server ended it
  "57P05", // idle_session_timeout: the server ended it while nobody used it
]);

/** Neither the server nor the role has a connection left. */
export const tooManyConnections = "53300";

/** Whether an error code means a lost database connection; the outcome of the statement is then unknown. */
export const isLostConnection = (code: string | undefined): boolean => code !== undefined && codes.has(code);
