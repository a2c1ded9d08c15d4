import { expect, onTestFinished, test, vi } from "vitest";
import { log } from "#lib/log.ts";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import {
  encryption,
  eventually,
  phone,
  platform,
  sql,
  stageEachTest,
  startOpen,
  submit,
} from "../../fleet/running-task.ts";
import { expectShown, isRead, isRejected, type Shown } from "./expect-shown.ts";

stageEachTest();

const read = { receipts: ["delivered", "read"] } satisfies FailureModes;

const storedTokens = async () =>
  (await sql`select from messaging.auth_key where type = 'tctoken' and id <> '__index'`).length;

test("a contact is given the account's token before the first message, and again a week later", async () => {
  const task = await startOpen();
  platform.behave({ ...read, tokens: {} });
  const [first, ...more] = await Promise.all(Array.from({ length: 10 }, () => submit(task, {})));
  for (const { id } of more) await eventually(task, id, "READ");
  expect([platform.tokensGivenTo(phone), await storedTokens()]).toEqual([1, 1]);
  expect(platform.arrivalsOf(first?.id ?? "")).toBe(1);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7 * 86_400_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { id } = await submit(task, {});
  await eventually(task, id, "READ");
  expect([platform.tokensGivenTo(phone), platform.arrivalsOf(id)]).toEqual([2, 1]);
});

/** Which tokens the platform demands of new contacts, who has given theirs, what becomes of the last of the messages. */
test.each<[string, FailureModes["tokens"], { contacts: number; gives?: true; stored: number } & Shown]>([
  ["the account's own", {}, { contacts: 1, stored: 1, ...isRead(1, { sent: 1 }) }],
  ["one after a few contacts", { free: 2 }, { contacts: 5, stored: 5, ...isRead(1, { sent: 5 }) }],
  [
    "the contact's, which it returns",
    { theirs: true },
    { contacts: 1, gives: true, stored: 1, ...isRead(1, { sent: 1 }) },
  ],
  [
    "the contact's, which it does not return",
    { theirs: true },
    { contacts: 1, stored: 1, ...isRejected(1), metrics: { retried: 1 } },
  ],
])("when the platform demands a privacy token, %s, the message is sent or waits", async (_, tokens, row) => {
  const { contacts, gives, stored, ...shown } = row;
  const task = await startOpen();
  platform.behave({ ...read, tokens });
  let id = "";
  for (let n = 10; n < 10 + contacts; n++) {
    const to = platform.register(`62812000000${n}`).number;
    if (gives) platform.tokenOf(to);
    ({ id } = await submit(task, { phone: to }));
    if (n < 9 + contacts) await eventually(task, id, "READ");
  }
  await expectShown(task, id, shown);
  expect(await storedTokens()).toBe(stored);
});

test("a contact's own token is stored when a notification or the recent history brings it, and nothing of its chat", async () => {
  const secret = "rahasia warga 4711";
  const logged = (["info", "warn", "error"] as const).map((level) => vi.spyOn(log, level));
  onTestFinished(() => void vi.restoreAllMocks());
  const task = await startOpen();
  const other = platform.register("6281200000002");
  const timestamp = Math.floor(Date.now() / 1_000);
  platform.giveToken(phone);
  await platform.syncHistory({
    conversations: [
      {
        id: `${other.lid}@lid`,
        pnJid: other.jid,
        displayName: secret,
        tcToken: platform.tokenOf(other.number),
        tcTokenTimestamp: timestamp,
        messages: [
          {
            message: { key: { remoteJid: `${other.lid}@lid`, id: "1" }, message: { conversation: secret } },
          },
        ],
      },
    ],
    pushnames: [{ id: other.jid, pushname: secret }],
  });
  await expect.poll(storedTokens).toBe(2);
  platform.behave({ ...read, tokens: { theirs: true } });
  for (const to of [phone, other.number]) {
    const { id } = await submit(task, { phone: to });
    await eventually(task, id, "READ");
    expect(platform.arrivalsOf(id)).toBe(1);
  }
  const keys = await sql<{ type: string; id: string; value: Buffer }[]>`
    select type, id, value from messaging.auth_key`;
  const values = keys.map(({ type, id, value }) =>
    encryption.decrypt(`auth_key/1/${type}/${id}`, value).toString(),
  );
  const rest = await sql`
    select m::text from messaging.message m union all select n::text from messaging.number_check n`;
  const calls = logged.flatMap(({ mock }) => mock.calls);
  expect(values.join()).toContain(other.lid);
  for (const written of [values, keys.map(({ id }) => id), rest, calls])
    expect(JSON.stringify(written)).not.toContain(secret);
});
