/** The secrets of the session task, which has no row in the route table: environment variable → name within the stage. */
export const sessionSecrets = {
  DATABASE_SECRET_ID: "database/session",
  SESSION_TOKEN_SECRET_ID: "session-token",
  SESSION_KEY_SECRET_ID: "session-key",
  CONSOLE_SECRET_ID: "session-console",
} as const;
