import {
  listAccounts,
  recordConnection,
  recordNumber,
  releaseMessages,
} from "#lib/messenger/account/account.ts";
import { moveLate } from "#lib/messenger/outbox/next-channel.ts";
import type { Ground, Measurable } from "./groups.ts";
import { withoutEffect } from "./measure.ts";
import { numbers } from "./message-data.ts";

/** @throws Error if what is measured has found nothing. */
const require = (messages: number) => {
  if (messages === 0) throw new Error("no message was found");
};

/** What one task does for all accounts each second, and what each leader stores. */
export async function* accountCases({ sql }: Ground): AsyncGenerator<Measurable> {
  yield { name: "accounts: list", run: () => listAccounts(sql) };
  yield { name: "accounts: number of a connection", run: () => recordNumber(sql, 1, numbers[1]) };
  yield { name: "accounts: connected", run: () => recordConnection(sql, 1, true) };
  yield { name: "accounts: take messages back, all can send", run: () => releaseMessages(sql) };
  const lost = (most: number) => ({
    before: (inside: typeof sql) => inside`
      update messaging.account set hold_code = 401, hold_until = null where id = 2`,
    most,
  });
  yield withoutEffect(sql, {
    name: "accounts: take messages back, of an account that cannot send",
    run: async (inside) => require(await releaseMessages(inside)),
    ...lost(10),
  });
  yield withoutEffect(sql, {
    name: "accounts: take messages back, of a limited account",
    before: (inside) => inside`
      update messaging.number set locked_until = now() + interval '1 day', locked_at = now() where phone = ${numbers[2]}`,
    run: (inside) => releaseMessages(inside),
  });
  yield { name: "accounts: move what is late, nothing", run: () => moveLate(sql) };
  yield withoutEffect(sql, {
    name: "accounts: move what is late, 1,000 of accounts that cannot send",
    before: (inside) =>
      inside`update messaging.account set hold_code = 401, hold_until = null where id in (1, 2)`,
    run: async (inside) => require(await moveLate(inside)),
    most: 10,
  });
}
