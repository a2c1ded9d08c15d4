// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns of source text
import type { Mutant } from "../mutant.ts";

const leaderFile = "lib/messenger/leader.ts";
const accountFile = "lib/messenger/account/account.ts";
const nextFile = "lib/messenger/outbox/next.ts";
const ofAccounts = ["test/messenger/accounts.test.ts"];

export const account: readonly Mutant[] = [
  {
    breaks: "A task leads all accounts that are free, not its share",
    file: leaderFile,
    find: "Math.ceil(accounts.length / Math.max(1, tasks))",
    replace: "accounts.length",
    tests: ofAccounts,
    only: "tasks share the accounts",
  },
  {
    breaks: "A term that was given back keeps its lock",
    file: leaderFile,
    find: ".then(() => (this.#lost.aborted ? undefined : giveLock(this.#sql, seat)))",
    replace: ".then(() => (seat < 0 ? giveLock(this.#sql, seat) : undefined))",
    tests: ofAccounts,
    only: "tasks share the accounts",
  },
  {
    breaks: "Two accounts send from one number, each at its whole rate",
    file: accountFile,
    find: 'select not exists (select from other) as "isOwn"`',
    replace: 'select true as "isOwn"`',
    tests: ofAccounts,
    only: "the same number",
  },
  {
    breaks: "An account that is retired stays connected",
    file: accountFile,
    find: "where state <> 'retired' order by id",
    replace: "order by id",
    tests: ofAccounts,
    only: "retired",
  },
  {
    breaks: "A recipient's messages are sent by any account",
    file: nextFile,
    find: "(waiting.account is not null or not exists (",
    replace: "(true or not exists (",
    tests: ofAccounts,
    only: "keeps its account",
  },
  {
    breaks: "The account that has sent the first message is not remembered",
    file: "lib/messenger/outbox/outcome.ts",
    find: "select pool, ${phone}, ${account}::smallint from sent",
    replace: "select pool, ${phone}, ${account}::smallint from sent where false",
    tests: ofAccounts,
    only: "keeps its account",
  },
  {
    breaks: "An account sends the messages of every pool",
    file: "lib/messenger/outbox/store.ts",
    find: "substring(sender from '^api:(.*)$')), 'city')",
    replace: "substring(sender from '^api:(.*)$') and false), 'city')",
    tests: ofAccounts,
    only: "of its pool alone",
  },
  {
    breaks: "A spare sends like any other",
    file: nextFile,
    find: "where id = ${account} and state = 'active'`;",
    replace: "where id = ${account}`;",
    tests: ofAccounts,
    only: "a spare",
  },
  {
    breaks: "A spare is never used",
    file: accountFile,
    find: "where spare.state = 'spare' and spare.number is not null",
    replace: "where spare.state = 'spare' and spare.number is null",
    tests: ofAccounts,
    only: "a spare",
  },
  {
    breaks: "What waits for an account that cannot send is never taken back",
    file: accountFile,
    find: "and (m.account in (select id from unable)",
    replace: "and (false",
    tests: ofAccounts,
    only: "waited for an account",
  },
  {
    breaks: "A message that may have arrived is sent by another account, too",
    file: accountFile,
    find: "m.state = 'PENDING' and m.attempts <= m.unsent",
    replace: "m.state = 'PENDING'",
    tests: ofAccounts,
    only: "may have reached",
  },
  {
    breaks: "A form of the console acts on whichever account is led",
    file: "lib/messenger/operator-console.ts",
    find: "return name === undefined ? led[0]",
    replace: "return name !== null ? led[0]",
    tests: ofAccounts,
    only: "the console shows",
  },
];
