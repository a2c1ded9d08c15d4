import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { Submission } from "#lib/messaging/submission.ts";
import { firstAccount } from "#lib/messenger/account/account.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { listAwaited, OpenFrom, Rotation, takeNext } from "#lib/messenger/outbox/next.ts";
import { storePayload } from "#lib/messenger/outbox/payload.ts";
import { applyReceipt, markSent } from "#lib/messenger/outbox/receipt.ts";
import { storeMessages } from "#lib/messenger/outbox/store.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { startDatabase } from "../../../infra/local/database.ts";
import { destroyServer } from "../../../infra/local/postgres/server.ts";
import { openStore } from "../../../infra/local/secrets/store.ts";
import { readCpuMs } from "./processor.ts";
import { printTable, type Result } from "./result.ts";

const waiting = 1_000;
const recipients = 500;
const payload = randomBytes(400);
/** A Signal session has about this size; that with the account's own phone changes with every message. */
const session = randomBytes(1_000);
const own = "6281100000001.0";

/** Opens what sends the messages of the first account, whose leader has the first term. */
export const openSending = async (sql: postgres.Sql) => {
  const encryption = encryptionWith(secretTable["messenger-key"].mint());
  const { state } = (await openAuthState({ sql, encryption, epoch: 1 })).acquire();
  const rotation = new Rotation();
  const openFrom = new OpenFrom();
  /** Looks whether a message waits, and sends the next until it was read: everything that is written for it. */
  const send = async (): Promise<void> => {
    const from = await openFrom.find(sql);
    await listAwaited(sql, [firstAccount], from);
    const message = await takeNext(sql, {
      epoch: 1,
      resting: [],
      account: 1,
      number: "6281100000001",
      newContactsUpTo: 3,
      reachable: undefined,
      lanes: ["code", "other", "upload"],
      underWay: [],
      rotation,
      openFrom: from,
    });
    if (!message) throw new Error("nothing was waiting");
    await storePayload(sql, { id: message.id, epoch: 1 }, "whatsapp", payload);
    for (const id of [`${message.phone}.0`, own]) await state.keys.set({ session: { [id]: session } });
    await state.keys.get("session", [`${message.phone}.0`, own]);
    await markSent(sql, message);
    await applyReceipt(sql, firstAccount, message.id, "DELIVERED");
    await applyReceipt(sql, firstAccount, message.id, "READ");
  };
  return { send, keys: state.keys };
};

const openOutbox = async (sql: postgres.Sql) => {
  await sql`insert into messaging.leadership (account, epoch, holder) values (1, 1, 'bench')`;
  const { send } = await openSending(sql);
  let made = 0;
  const put = async () => {
    const phone = String(62_812_000_000 + (made % recipients));
    const sender = `api:${made % 3}`;
    const submission = Submission.parse({ sender, kind: "text", phone, text: "Antrean" });
    await storeMessages(sql, [{ id: `M${made++}`, submission, mediaId: null }]);
  };
  const cycle = async () => {
    await put();
    await send();
  };
  return { put, cycle };
};

/** Messages for each second of processor time, here and in the database: other programs do not affect it. */
const rate = async (pids: readonly number[], count: number, work: () => Promise<void>): Promise<number> => {
  const used = () => pids.reduce((sum, pid) => sum + readCpuMs(pid), 0);
  const before = used();
  for (let n = 0; n < count; n++) await work();
  return Math.round((count / (used() - before)) * 1_000);
};

/**
 * Measures how many messages a second the outbox can accept and send, before and while an open transaction holds back
 * vacuum, which leaves every old version of a row in place. Statistics are renewed meanwhile, as by autovacuum. Nothing
 * is flushed to disk, so that only this shows; a second is one of processor time.
 *
 * @param options `sends`: messages while the transaction is open, of which the last of each fifth are `measured`. A number
 * sends at most 200 an hour.
 */
export const benchOutbox = async ({
  sends,
  measured = 1_000,
}: {
  sends: number;
  measured?: number;
}): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const database = await startDatabase(`${folder}/postgres`, openStore(undefined), false);
    const sql = database.connectAs("messenger");
    const holder = database.connectAs("messenger");
    const { put, cycle } = await openOutbox(sql);
    for (let n = 0; n < waiting; n++) await put();
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const pids = [process.pid, backend?.pid ?? 0];
    await rate(pids, 4 * measured, cycle); // until the code is compiled: the first thousand cost a fifth more
    // as autovacuum does within a minute, which would make other plans in the middle
    const owner = postgres(database.adminUrl, { max: 1, onnotice: () => {} });
    await owner`analyze`;
    const before = await rate(pids, measured, cycle);
    await holder`set idle_in_transaction_session_timeout = 0`;
    await holder`begin isolation level repeatable read`;
    await holder`select count(*) from messaging.message`;
    const rows = [{ sends: 0, perSecond: before, ratio: 1 }];
    for (let sent = sends / 5; sent <= sends; sent += sends / 5) {
      await rate(pids, sends / 5 - measured, cycle);
      await owner`analyze`;
      const perSecond = await rate(pids, measured, cycle);
      rows.push({ sends: sent, perSecond, ratio: Number((perSecond / before).toFixed(2)) });
      console.error(JSON.stringify(rows.at(-1)));
    }
    await holder`commit`;
    await Promise.all([sql, holder, owner].map((connection) => connection.end()));
    await database.server.stop();
    printTable(rows);
    return { bench: "outbox", figures: { waiting, recipients, rows } };
  } finally {
    await destroyServer(`${folder}/postgres`);
    rmSync(folder, { recursive: true, force: true });
  }
};
