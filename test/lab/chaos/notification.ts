import { createHmac, randomInt } from "node:crypto";
import postgres from "postgres";
import type { City } from "../../../infra/local/city.ts";
import type { Figures } from "../../steps/function.ts";
import { playAudience, scheduledNow, showRecipients, startNotify } from "../../steps/notifying.ts";

/** What became of a run that was killed, and what of it must not be. */
export interface RunVerdict {
  /** Broken promises, in words; none after a good run. */
  readonly wrongs: readonly string[];
  readonly accepted: number;
  readonly optedOut: number;
  /** Messages that were in the outbox when the run was killed, each time. */
  readonly killedAt: readonly number[];
  /** Of the last attempt, and of one that found nothing left to do. */
  readonly last: Figures | undefined;
  readonly idle: Figures | undefined;
}

export interface RunTrial {
  readonly recipients: number;
  readonly kills: number;
}

const job = "appointment-reminder";
/** Every so many-th has opted out. */
const optOutEvery = 50;

const countMessages = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from messaging.message`;
  return row?.count ?? 0;
};

/** Lets so many opt out as the operator would: by their number. */
const optOut = async (city: City, sql: postgres.Sql, recipients: number): Promise<number> => {
  const { version, pepper } = JSON.parse(city.secrets.find("municipal/local/opt-out-pepper")?.value ?? "{}");
  const numbers = Array.from({ length: Math.floor(recipients / optOutEvery) }, (_, n) => n * optOutEvery);
  for (const row of numbers) {
    const digest = createHmac("sha256", pepper)
      .update(`62811${1_000_000 + row}`)
      .digest();
    await sql`insert into notification.opt_out (digest, pepper_version) values (${digest}, ${version})`;
  }
  return numbers.length;
};

/** Runs it until it is killed, once there are so many messages, or until its end. */
const runUntil = async (city: City, sql: postgres.Sql, event: unknown, messages: number) => {
  const run = startNotify(city, event);
  let over = false;
  void run.ended.then(() => {
    over = true;
  });
  // a look is a statement, so this waits by itself
  while (!over && (await countMessages(sql)) < messages);
  run.kill();
  return run.ended;
};

/**
 * Sets up a run over so many recipients, and pauses sending, so that the outbox shows what was handed over.
 *
 * @returns the event that starts it, and how many have opted out.
 */
export const prepareRun = async (city: City, sql: postgres.Sql, recipients: number) => {
  await sql`update messaging.control set paused = true`;
  await sql`truncate messaging.message, messaging.idempotency, notification.run, notification.recipient, notification.opt_out cascade`;
  await playAudience(sql, "appointment_reminder");
  await showRecipients(sql, recipients);
  const optedOut = await optOut(city, sql, recipients);
  return { event: { job, scheduled_time: scheduledNow() }, optedOut };
};

/** Looks at all that a completed run has promised. @returns broken promises, in words. */
export const judgeRun = async (sql: postgres.Sql) => {
  const wrongs: string[] = [];
  const found = await sql<{ phone: string; count: number }[]>`
    select phone, count(*)::int as count from messaging.message group by phone`;
  for (const { phone, count } of found) if (count > 1) wrongs.push(`${phone}: ${count} messages`);
  const wanted = await sql<{ phone: string }[]>`select phone from office.played order by phone`;
  const spared = new Set(wanted.filter((_, row) => row % optOutEvery === 0).map(({ phone }) => phone));
  const reached = new Set(found.map(({ phone }) => phone));
  for (const { phone } of wanted)
    if (reached.has(phone) === spared.has(phone))
      wrongs.push(`${phone}: ${spared.has(phone) ? "had opted out" : "never notified"}`);
  const [run] = await sql<{ state: string; accepted: number; opted_out: number }[]>`
    select state, accepted, opted_out from notification.run`;
  if (run?.state !== "done") wrongs.push(`the run is ${run?.state}`);
  return { wrongs, accepted: run?.accepted ?? 0, optedOut: run?.opted_out ?? 0 };
};

/** A run over many recipients, killed at random points and repeated as the event source does. */
export const killRun = async (city: City, { recipients, kills }: RunTrial): Promise<RunVerdict> => {
  const sql = postgres(city.database.adminUrl, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    const { event, optedOut: spared } = await prepareRun(city, sql, recipients);
    const points = Array.from({ length: kills }, () => randomInt(1, recipients - spared)).toSorted(
      (a, b) => a - b,
    );
    const killedAt: number[] = [];
    for (const point of points) {
      const { code } = await runUntil(city, sql, event, point);
      if (code === null) killedAt.push(await countMessages(sql));
    }
    const last = await startNotify(city, event).ended;
    const idle = await startNotify(city, event).ended;
    const { wrongs: found, accepted, optedOut } = await judgeRun(sql);
    const wrongs = [
      ...(last.code === 0 ? [] : [`the last attempt failed: ${last.lines.at(-1)}`]),
      ...(killedAt.length === kills
        ? []
        : [`only ${killedAt.length} of ${kills} were killed before their end`]),
      ...found,
    ];
    return { wrongs, accepted, optedOut, killedAt, last: last.figures, idle: idle.figures };
  } finally {
    await sql.end();
  }
};
