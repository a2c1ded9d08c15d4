import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type postgres from "postgres";
import { request } from "undici";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import type { Accepted, Submission } from "#lib/messaging/submission.ts";
import type { Pace } from "#lib/messenger/send/pace.ts";
import { startTask } from "#lib/messenger/task.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type Platform, startPlatform } from "../../infra/local/whatsapp/platform.ts";
import { type Assignment, describePlatform, taskOptions } from "./assignment.ts";
import { startSmsGateway } from "./sms-gateway.ts";
import { startTaskProcess, type TaskProcess } from "./task.ts";

export interface StageOptions {
  readonly databaseUrl: string;
  readonly admin: postgres.Sql;
  readonly accounts: number;
  readonly pace: Pace;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
type SendingNumber = ReturnType<Platform["addAccount"]>;

/** Resolves once the condition holds. @throws Error that says what did not happen. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await setTimeout(50);
  }
};

/** Makes accounts and their numbers on the platform; one is there already. */
const addAccounts = async ({ admin, accounts }: StageOptions, platform: Platform) => {
  const { scan, behave, disconnect, account: phone } = platform;
  const own: { id: number; at: SendingNumber }[] = [
    {
      id: 1,
      at: {
        ...{ scan, behave, disconnect, phone },
        get sockets() {
          return platform.sockets;
        },
      },
    },
  ];
  for (let n = 2; n <= accounts; n++) {
    const at = platform.addAccount(String(6_281_100_000_000 + n));
    const [row] = await admin<{ id: number }[]>`
      insert into messaging.account (name) values (${`account-${n}`}) returning id`;
    own.push({ id: row?.id ?? 0, at });
  }
  return own.map(({ id, at }) => ({
    id,
    lid: at.phone.lid,
    scan: at.scan,
    sockets: () => at.sockets,
    /** The platform locks the number. */
    ban() {
      at.behave({ loginFailure: { code: 403 } });
      at.disconnect("drop");
    },
    /** The phone removes the linked device. */
    unlink: () => at.disconnect(401),
  }));
};
export type StageAccount = Awaited<ReturnType<typeof addAccounts>>[number];

/** Links every account by a scan, with a task that then ends. */
const linkAll = async (assignment: Assignment, accounts: readonly StageAccount[]): Promise<void> => {
  const task = await startTask(taskOptions(assignment));
  const link = async ({ id, scan }: StageAccount) => {
    const state = () => task.findLeadership(id)?.whatsApp?.state();
    await until("an account shows a code", () => state()?.kind === "pairing", 300_000);
    const shown = state();
    if (shown?.kind === "pairing") await scan(shown.qr);
    await until("an account is linked", () => state()?.kind === "open");
  };
  for (const account of accounts) await link(account);
  await task.stop();
};

const { accountLeader: leaderKey, messengerTask: taskKey } = advisoryLocks;

/** Whether every task leads its share of the accounts. */
const isBalanced = async (admin: postgres.Sql, tasks: number): Promise<boolean> => {
  const rows = await admin<{ led: number }[]>`
    select count(*) filter (where classid = ${leaderKey} and objid <> 0)::int as led from pg_locks
    where locktype = 'advisory' and objsubid = 2 and granted and classid in (${leaderKey}, ${taskKey})
      and database = (select oid from pg_database where datname = current_database())
    group by pid having bool_or(classid = ${taskKey})`;
  const [row] = await admin<{ accounts: number }[]>`
    select count(*)::int as accounts from messaging.account where state <> 'retired'`;
  const { accounts = 0 } = row ?? {};
  const share = Math.ceil(accounts / tasks);
  const led = rows.reduce((sum, one) => sum + one.led, 0);
  return rows.length === tasks && led === accounts && rows.every((one) => one.led <= share);
};

/**
 * Opens a stage of many linked accounts in one pool, and an SMS gateway after them: the platform is in this process, each task
 * in one of its own.
 */
export const openStage = async (options: StageOptions) => {
  const { databaseUrl, admin, pace } = options;
  const platform = await startPlatform({ isRegistered: () => true });
  const gateway = await startSmsGateway();
  const token = randomBytes(24).toString("base64url");
  const assignment: Assignment = {
    ...{ databaseUrl, pace, token },
    encryptionKey: secretTable["messenger-key"].mint(),
    platform: describePlatform(platform),
    channel: gateway.settings,
  };
  const accounts = await addAccounts(options, platform);
  await linkAll(assignment, accounts);
  await admin`insert into messaging.account (name, channel) values ('gateway', 'sms')`;
  const tasks: TaskProcess[] = [];
  return {
    ...{ platform, gateway, accounts, tasks, admin },
    /** Starts a task, in place of the one that had this index. */
    async start(index = tasks.length, heapMb?: number): Promise<TaskProcess> {
      tasks[index] = await startTaskProcess(assignment, heapMb);
      return tasks[index];
    },
    /** @throws Error unless it is accepted. */
    async submit(task: TaskProcess, submission: Partial<Submission>): Promise<void> {
      const { statusCode, body } = await request(`${task.url}/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ sender: "api:fleet", kind: "text", ...submission }),
      });
      const answer = (await body.json()) as Accepted;
      if (statusCode !== 201) throw new Error(`${statusCode} ${JSON.stringify(answer)}`);
    },
    /** Resolves when each task leads its share, and each account is connected but for those that cannot be. */
    async untilReady(ended: ReadonlyMap<number, number> = new Map()): Promise<void> {
      await until("every task leads its share", () => isBalanced(admin, tasks.length), 120_000);
      const isReady = () => accounts.every(({ id, sockets }) => ended.has(id) || sockets().loggedIn === 1);
      await until("all accounts are connected", isReady, 120_000);
    },
    async stop(): Promise<void> {
      await Promise.all(tasks.map((task) => task.kill()));
      await Promise.all([platform.stop(), gateway.stop()]);
    },
  };
};
