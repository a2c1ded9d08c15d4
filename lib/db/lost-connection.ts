/** Error codes of a lost connection, from postgres.js, Node and the server. */
const codes = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "ECONNRESET", "EPIPE"],
  "57P01", // admin_shutdown
]);

/** Tells whether an error code means a lost database connection rather than a failed statement. */
export const isLostConnection = (code: string | undefined): boolean => code !== undefined && codes.has(code);
