/** What postgres.js, Node or the server says of a connection that is gone. */
const codes = new Set([
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "ECONNRESET", "EPIPE"],
  "57P01", // admin_shutdown: the server ended it
]);

/** Whether an error's code tells of a lost database connection, which says nothing about the statement. */
export const isLostConnection = (code: string | undefined): boolean => code !== undefined && codes.has(code);
