import { expect, test } from "vitest";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { number } from "../../fleet/outbox-rows.ts";
import { database, put, sql, take, useOutbox } from "./outbox-steps.ts";

useOutbox();

test.each(["the platform's answer", "a receipt that precedes the answer"])(
  "from %s on, the recipient knows the account and is a contact of its number",
  async (news) => {
    await put("M1");
    const taken = await take();
    if (news === "the platform's answer") await markSent(sql, taken);
    else await applyReceipt(sql, firstAccount, "M1", "DELIVERED");
    const { phone } = taken;
    expect(await sql`select phone, account from messaging.route`).toEqual([{ phone, account: firstAccount }]);
    expect(await sql`select number, phone from messaging.contact`).toEqual([{ number, phone }]);
  },
);

test("a receipt of an account that a recipient no longer knows does not bring it back", async () => {
  const [other] = await database.admin<
    { id: number }[]
  >`insert into messaging.account (name) values ('other') returning id`;
  await put("M1");
  await markSent(sql, await take());
  await sql`update messaging.route set account = ${other?.id ?? 0}`;
  await applyReceipt(sql, firstAccount, "M1", "READ");
  expect(await sql`select account from messaging.route`).toEqual([{ account: other?.id }]);
});
