import { expect, test } from "vitest";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { markSent } from "#lib/messenger/outbox/outcome.ts";
import { applyReceipt } from "#lib/messenger/outbox/state.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { beginTerm, number, putMessage, takeAny } from "./outbox-rows.ts";

test.each(["the platform's answer", "a receipt that precedes the answer"])(
  "from %s on, the recipient knows the account and is a contact of its number",
  async (news) => {
    const { sql } = await createMessengerDatabase();
    const epoch = await beginTerm(sql);
    await putMessage(sql, "M1");
    const taken = await takeAny(sql, epoch);
    if (!taken) throw new Error("nothing to take");
    if (news === "the platform's answer") await markSent(sql, taken);
    else await applyReceipt(sql, firstAccount, "M1", "DELIVERED");
    const { phone } = taken;
    expect(await sql`select phone, account from messaging.route`).toEqual([{ phone, account: firstAccount }]);
    expect(await sql`select number, phone from messaging.contact`).toEqual([{ number, phone }]);
  },
);

test("a receipt of an account that a recipient no longer knows does not bring it back", async () => {
  const { sql, admin } = await createMessengerDatabase();
  const [other] = await admin<
    { id: number }[]
  >`insert into messaging.account (name) values ('other') returning id`;
  const epoch = await beginTerm(sql);
  await putMessage(sql, "M1");
  const taken = await takeAny(sql, epoch);
  if (!taken) throw new Error("nothing to take");
  await markSent(sql, taken);
  await sql`update messaging.route set account = ${other?.id ?? 0}`;
  await applyReceipt(sql, firstAccount, "M1", "READ");
  expect(await sql`select account from messaging.route`).toEqual([{ account: other?.id }]);
});
