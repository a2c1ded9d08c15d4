/** The secrets of the messenger, which has no row in the route table: environment variable → name within the stage. */
export const messengerSecrets = {
  DATABASE_SECRET_ID: "database/messenger",
  MESSENGER_TOKEN_SECRET_ID: "messenger-token",
  MESSENGER_KEY_SECRET_ID: "messenger-key",
  CONSOLE_SECRET_ID: "messenger-console",
} as const;
