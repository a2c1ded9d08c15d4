/**
 * Connections of one messenger to the database. Bulk runs and callers' lists have one, and the console, which reads with a
 * role of its own, another: the sender never waits for them.
 */
export const messengerPools = { sender: 10, bulk: 1, console: 1, election: 1 } as const;
