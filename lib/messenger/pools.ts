/** Connections of one messenger to the database. The console has its own, which the sender never waits for. */
export const messengerPools = { sender: 10, console: 2, election: 1 } as const;
