/** In milliseconds: a request waits for several statements, and answers within three seconds also when many are made at once. */
export const limitMs = 50;

/** Statements that may exceed the limit, by the start of their name, each with the reason. */
export const slowByDesign: Readonly<Record<string, string>> = {
  "accept: store 200": "a batch of a job, which waits for nothing else",
  "accounts: move what is late, 1,000": "a batch, when no account can send",
  "accounts: take messages back, of an account": "changes all that waits for the account, once",
  "bulk: cancel a run": "changes all that waits of the run, when an operator cancels it",
  "bulk: days of all messages": "assigns 20,000 messages to days, for a preview",
  "bulk: report": "lists 20,000 lines, when an operator asks",
  "callbacks: disable the address": "changes all events of the address, once",
  "callbacks: give up, an hour's": "changes as many events as an hour had, after an outage of the task",
  "console: accounts": "counts all that waits for accounts",
  "console: chart of 24 hours": "the first time; a task then counts the present hour alone",
  "console: the whole page": "all of the console's statements together",
  "figures: ages in the queue": "reads all that is open, once a minute",
  "figures: the queue by state": "reads all that is open, once a minute",
  "maintenance audit-": "a batch of the maintenance, which has 20 s for each",
  "maintenance resident-": "a batch of the maintenance, which has 20 s for each",
  "maintenance retention": "a batch of the maintenance, which has 20 s for each",
  "maintenance: sealReads": "hashes up to 10,000 rows, in the maintenance",
  "maintenance: verify_seals": "hashes the rows of 50 seals, when an operator verifies the audit",
  "messages: PENDING": "looks through all that waits of a sender who has as much as it may have",
  "messages: SENDING": "looks through all that waits of a sender who has as much as it may have",
  "portal: who saw me": "reads the audit's pending entries, and reports up to 10,000 reads",
  "residents: search, three letters with a blank «a b»":
    "most blocks have such letters, and no trigram has them: counts them live",
  "retention, batches": "a batch of up to 1,000 rows, once a minute",
  "retention: expire 1,000": "changes all that expires at once",
  "send: defer to the end of quiet hours": "changes all that waits for the same hours, when they begin",
  "send: recover at a new term, nothing": "reads all that is open, once for each leader",
  "send: release what is due, 999": "a batch, at the end of quiet hours",
  "send: release what is due, all": "batches of 1,000, at the end of quiet hours",
  "send: take the next, new contacts too, the limit is reached, the pool's whole queue": "every ten seconds",
  "send: take the next, only new contacts, the limit is reached, the pool's whole queue": "every ten seconds",
  "send: what a number has sent, at a new connection": "once for each connection",
  "send: why 50 wait,": "looks for what goes before each, when an operator asks",
};

/** @returns why a statement may be slow, if it may. */
export const findReason = (statement: string): string | undefined =>
  Object.entries(slowByDesign).find(([start]) => statement.startsWith(start))?.[1];
