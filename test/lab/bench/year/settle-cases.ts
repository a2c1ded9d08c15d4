import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { applyEvents } from "#lib/messenger/channel-events.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import {
  deferUntilQuietEnd,
  expire,
  markFailed,
  recover,
  returnToQueue,
} from "#lib/messenger/outbox/lifecycle.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { OpenFrom, Rotation, takeNext } from "#lib/messenger/outbox/next.ts";
import { payloadStore, storePayload } from "#lib/messenger/outbox/payload.ts";
import { applyReceipt, applyReport, markSent, markUndecryptable } from "#lib/messenger/outbox/receipt.ts";
import { findAddress } from "#lib/messenger/send/number-check.ts";
import { setPreference } from "#lib/notification/opt-out.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import type { Ground, Measurable } from "./groups.ts";
import { withoutEffect } from "./measure.ts";
import { phoneOf } from "./message-data.ts";
import { restrictions } from "./open-messages.ts";

const payload = Buffer.alloc(400, 7);

/** What becomes of a message that is sent, and what comes back. */
export async function* settleCases({ owner, sql, parts }: Ground): AsyncGenerator<Measurable> {
  const openFrom = await new OpenFrom().find(sql);
  const rotation = new Rotation();
  let message: Outgoing;
  const take = async () => {
    const next = await takeNext(sql, {
      ...{ epoch: 1, lanes: ["code", "other", "upload"], underWay: [], rotation, openFrom },
      ...restrictions(1, 1),
    });
    if (!next) throw new Error("no message may be sent");
    message = next;
  };
  const taken = { before: take, most: Math.max(1, Math.floor(parts.due / 100)) };
  yield {
    name: "send: store the payload",
    run: () => storePayload(sql, message, "whatsapp", payload),
    ...taken,
  };
  yield { name: "send: mark as sent", run: () => markSent(sql, message), ...taken };
  const inSent = (text: "DELIVERED" | "READ") => ({
    name: `receipts: ${text}`,
    run: () => applyReceipt(sql, 1, message.id, text),
    before: async () => {
      await take();
      await markSent(sql, message);
    },
    most: taken.most,
  });
  yield inSent("DELIVERED");
  yield inSent("READ");
  yield { name: "receipts: cannot be decrypted", run: () => markUndecryptable(sql, message.id), ...taken };
  yield {
    name: "send: requeue without an answer",
    run: () => returnToQueue(sql, message, { cost: "send", delaySeconds: 60 }),
    ...taken,
  };
  yield { name: "send: mark as failed", run: () => markFailed(sql, message, "bench"), ...taken };

  const reported = await owner<{ reference: string; id: string; phone: string }[]>`
    select reference, id, phone from messaging.payload join messaging.message m using (seq)
    where reference is not null and m.account = 1 limit 300`;
  const one = (turn: number) => reported[turn % reported.length] ?? { reference: "", id: "", phone: "" };
  const describe = () => "rejected";
  yield {
    name: "receipts: report by the platform's reference",
    run: (turn) => applyReport(sql, 1, { reference: one(turn).reference, state: "DELIVERED" }, describe),
  };
  yield {
    name: "receipts: report of a failure by id, with the user",
    run: (turn) => applyReport(sql, 1, { id: one(turn).id, state: "FAILED", user: `user-${turn}` }, describe),
  };
  const sent_at = new Date().toISOString();
  yield {
    name: "replies: find the number of a user",
    run: (turn) =>
      applyEvents(
        sql,
        { account: "gateway", reports: [], replies: [{ user: `user-${turn * 100}`, text: "STOP", sent_at }] },
        async () => {},
      ),
  };
  const pepper = await digestTerm();
  yield withoutEffect(sql, {
    name: "replies: opt out, and end what waits",
    run: (inside, turn) => setPreference(inside as never, pepper, phoneOf(turn), "out"),
  });
  const registry = { findAddress: async (phone: string) => `${phone}@s.whatsapp.net` };
  yield {
    name: "send: address of a known number",
    run: (turn) => findAddress(sql, 1, registry, phoneOf(turn * 2)),
  };
  yield {
    name: "send: address of a new number",
    run: (turn) => findAddress(sql, 1, registry, `62815${turn + 10_000_000}`),
  };
  const encryption = encryptionWith(secretTable["messenger-key"].mint());
  const { state } = (await openAuthState({ sql, encryption, epoch: 1 })).acquire();
  const key = (turn: number) => `62816${turn}.0`;
  const session = Buffer.alloc(1_000, 7);
  yield {
    name: "send: write and read a session",
    run: async (turn) => {
      await state.keys.set({ session: { [key(turn)]: session } });
      await state.keys.get("session", [key(turn)]);
    },
  };
  const stored = payloadStore(sql, encryption);
  yield {
    name: "send: payload of a message that is asked for again",
    // it was not encrypted with this key: what is measured has ended before that is found
    run: (turn) => stored.findToRepeat(one(turn).id).catch(() => undefined),
  };
  yield withoutEffect(sql, {
    name: "send: defer to the end of quiet hours, with all others",
    before: (inside) => inside`
      with own as (update messaging.message set quiet_hours = (select quiet_hours from messaging.message where is_open and quiet_hours is not null limit 1), state = 'SENDING', epoch = 1
        where id = (select id from messaging.message where is_open and held_until is null and state = 'PENDING' limit 1))
      update messaging.message set held_until = null, not_before = now() where is_open and quiet_hours is not null`,
    run: async (inside) => {
      const [row] = await inside<
        Outgoing[]
      >`select id, epoch from messaging.message where is_open and state = 'SENDING' limit 1`;
      if (!row) throw new Error("no message is being sent");
      await deferUntilQuietEnd(inside, { ...row, quietUntil: new Date(Date.now() + 3_600_000) });
    },
    most: 5,
  });
  await owner`vacuum (analyze) messaging.message`;
  yield { name: "send: recover at a new term, nothing", run: () => recover(sql, 1) };
  yield { name: "retention: expire, nothing", run: () => expire(sql) };
  yield withoutEffect(sql, {
    name: "retention: expire 1,000",
    before: (inside) => inside`
      update messaging.message set expires_at = now() where seq in (
        select seq from messaging.message where is_open and state = 'PENDING' limit 1000)`,
    run: (inside) => expire(inside),
    most: 10,
  });
}
