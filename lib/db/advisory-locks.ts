/**
 * Keys of the database's advisory locks, by what is locked. SQL names the lock in a comment behind its key, and a test compares
 * them. Most have a second key: the account, number or partner whose callers wait for each other.
 */
export const advisoryLocks = {
  migration: 7_206_301,
  accountAttempts: 7_206_302,
  sourceAttempts: 7_206_303,
  accountLeader: 7_206_304,
  maintenance: 7_206_305,
  residentUpkeep: 7_206_306,
  blockLayout: 7_206_307,
  // its key is an offset of seq
  messageInsert: 7_206_309,
  messengerTask: 7_206_310,
  numberVerification: 7_206_311,
  partnerVerification: 7_206_312,
  residentImport: 7_206_313,
  citizenRequest: 7_206_314,
  partnerReads: 7_206_315,
  liftedRestriction: 7_206_316,
} as const;
