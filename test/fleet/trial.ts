import { setTimeout } from "node:timers/promises";
import { setPaused } from "#lib/messenger/outbox/depth.ts";
import { type Arrival, contactsOf, countByText, listChanged, readArrivals, worstMinute } from "./arrivals.ts";
import { openStage, type Stage, type StageAccount, type StageOptions, until } from "./stage.ts";

export interface TrialOptions extends StageOptions {
  readonly tasks: number;
  readonly recipients: number;
  readonly bans: number;
  readonly kills: number;
  /** One-time codes of each kind. */
  readonly codes: number;
  readonly codeEveryMs: number;
  /** Texts of each sample of acceptance; 0 for none. */
  readonly accepts: number;
  readonly onStep: (step: string) => void;
}

interface Notice {
  readonly phone: string;
  readonly text: string;
}

const atOnce = 16;
/** Of the recipients, one in so many gets a second notice. */
const secondOf = 5;

/** A notice to each recipient, and to one in five a second one when a fifth more have their first. */
const listNotices = (phones: readonly string[]): readonly Notice[] => {
  const gap = Math.ceil(phones.length / 5);
  return [...phones, ...phones.slice(0, gap).map(() => undefined)].flatMap((phone, n) => {
    const earlier = phones[n - gap];
    const again = earlier && (n - gap) % secondOf === 0;
    return [
      ...(phone ? [{ phone, text: `Notice ${n}` }] : []),
      ...(again ? [{ phone: earlier, text: `Second notice ${n - gap}` }] : []),
    ];
  });
};

/** Hands notices over, many at once, to some of the tasks in turn. @returns how many a second are accepted. */
const accept = async (stage: Stage, notices: readonly Notice[], tasks = stage.tasks): Promise<number> => {
  let next = 0;
  const started = performance.now();
  const work = async () => {
    while (next < notices.length) {
      const n = next++;
      const task = tasks[n % tasks.length];
      if (task) await stage.submit(task, notices[n] ?? {});
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return Math.round((notices.length / (performance.now() - started)) * 1_000);
};

/** Without the copies that the accounts' own phones get. */
const countArrived = ({ platform, gateway, accounts }: Stage): number => {
  const own = new Set(accounts.map(({ lid }) => lid));
  const phones = platform.phones.filter(({ lid }) => !own.has(lid));
  return phones.reduce((sum, { inbox }) => sum + inbox.length, gateway.taken.length);
};

/** Notices that are not settled, but for those in doubt: they may have left an account which can no longer send. */
const listOpen = async ({ admin }: Stage) => {
  const rows = await admin<{ text: string; inDoubt: boolean }[]>`
    select content ->> 'text' as text, attempts > failed_early and not messaging.can_send(account) as "inDoubt"
    from messaging.message where is_open and priority > 0`;
  return { open: rows.filter(({ inDoubt }) => !inDoubt), inDoubt: rows.filter(({ inDoubt }) => inDoubt) };
};

/** Sends one-time codes, one after the other, with an event among them. @returns each code's milliseconds to a phone. */
const sendCodes = async (
  stage: Stage,
  { codes, codeEveryMs }: TrialOptions,
  name: string,
  phones: readonly string[],
  event: () => void,
) => {
  const acceptedAt = new Map<string, number>();
  const submitting: Promise<void>[] = [];
  for (let n = 0; n < codes; n++) {
    if (n === Math.floor(codes / 4)) event();
    const text = `Code ${name} ${n}`;
    const task = stage.tasks[n % stage.tasks.length];
    const phone = phones[n % phones.length];
    acceptedAt.set(text, Date.now());
    if (task && phone) submitting.push(stage.submit(task, { class: "one-time-code", phone, text }));
    await setTimeout(codeEveryMs);
  }
  await Promise.all(submitting);
  const read = () => readArrivals(stage).filter(({ text }) => acceptedAt.has(text));
  const counts = () => countByText(read());
  await until(`all codes have arrived: ${name}`, () => counts().size === codes).catch(() => {});
  const arrivals = read();
  const times = [...acceptedAt].flatMap(([text, at]) => {
    const first = arrivals.find((one) => one.text === text);
    return first ? [first.at - at] : [];
  });
  return {
    times: times.toSorted((a, b) => a - b),
    lost: codes - times.length,
    twice: [...counts().values()].filter((count) => count > 1).length,
    bySms: arrivals.filter(({ account }) => account === undefined).length,
  };
};

/** Accepts notices with one account and one task, then with all. @returns what is accepted a second. */
const measureAcceptance = async (
  stage: Stage,
  notices: Notice[],
  { accepts, tasks }: TrialOptions,
): Promise<Readonly<Record<string, number>>> => {
  const { admin } = stage;
  const take = (count: number) => notices.splice(0, count);
  await admin`update messaging.account set state = 'retired' where id <> 1`;
  const first = await stage.start();
  // not counted: code that is cold
  await accept(stage, take(accepts));
  const alone = await accept(stage, take(accepts));
  await admin`update messaging.account set state = 'active'`;
  while (stage.tasks.length < tasks) await stage.start();
  await stage.untilReady();
  await accept(stage, take(accepts));
  const oneOfAll = await accept(stage, take(accepts), [first]);
  const all = await accept(stage, take(accepts));
  return { alone, oneOfAll, all };
};

/** What became of the notices. */
const judge = async ({ stage, notices, ended }: Course) => {
  const arrivals = readArrivals(stage);
  const counts = countByText(arrivals);
  const inDoubt = new Set((await listOpen(stage)).inDoubt.map(({ text }) => text));
  return {
    twice: notices.filter(({ text }) => (counts.get(text) ?? 0) > 1).length,
    lost: notices.filter(({ text }) => !counts.has(text) && !inDoubt.has(text)).length,
    inDoubt: inDoubt.size,
    changed: listChanged(arrivals, ended).length,
    bySms: arrivals.filter(({ account }) => account === undefined).length,
    copies: stage.platform.phones.reduce(
      (sum, { inbox }) => sum + inbox.reduce((more, { arrivals: times }) => more + times - 1, 0),
      0,
    ),
    faults: stage.platform.faults.length,
  };
};

const ofAccount = (arrivals: readonly Arrival[], { id, sockets }: StageAccount) => ({
  account: id,
  texts: arrivals.filter(({ account }) => account === id).length,
  worstMinute: worstMinute(arrivals, id),
  contacts: contactsOf(arrivals, id),
  mostLoggedIn: sockets().mostLoggedIn,
});

/** A trial under way. */
interface Course {
  readonly stage: Stage;
  readonly options: TrialOptions;
  readonly phones: readonly string[];
  readonly notices: readonly Notice[];
  /** When accounts were banned or unlinked, in milliseconds of the epoch. */
  readonly ended: Map<number, number>;
}

/** Kills a task and starts it anew. @returns 0: the accounts that it led log in again elsewhere. */
const killFirst = async ({ stage, ended }: Course): Promise<number> => {
  await stage.tasks[0]?.kill();
  await stage.start(0);
  await stage.untilReady(ended);
  return 0;
};

/** Bans an account. @returns how many others have logged in again until it was stopped. */
const ban = async ({ stage, ended }: Course, banned: StageAccount): Promise<number> => {
  const others = stage.accounts.filter((account) => account !== banned);
  const before = others.map(({ sockets }) => sockets().logins);
  banned.ban();
  ended.set(banned.id, Date.now());
  await until("the account is held", async () => {
    const { count } = await stage.admin`
      select from messaging.account where id = ${banned.id} and hold_code is not null`;
    return count > 0;
  });
  return others.filter(({ sockets }, at) => sockets().logins !== before[at]).length;
};

interface Event {
  readonly name: string;
  /** The part of the notices after which it happens. */
  readonly at: number;
  /** @returns how many accounts it has disturbed that it does not concern. */
  readonly act: () => Promise<number>;
}

/** Spreads events over the first half of the notices, the bans a little later. */
const planEvents = (course: Course): readonly Event[] => {
  const { stage, options } = course;
  const kills = Array.from({ length: options.kills }, (_, n) => ({
    name: "kill",
    at: 0.1 + (0.5 * n) / options.kills,
    act: () => killFirst(course),
  }));
  const bans = stage.accounts.slice(1, 1 + options.bans).map((account, n) => ({
    name: "ban",
    at: 0.25 + (0.5 * n) / options.bans,
    act: () => ban(course, account),
  }));
  return [...kills, ...bans].toSorted((a, b) => a.at - b.at);
};

const reach = ({ stage, notices }: Course, part: number): Promise<void> =>
  until(`${part} of the notices`, () => countArrived(stage) >= part * notices.length, 1_800_000);

/** Lets events happen while notices are sent. @returns how many accounts they have disturbed. */
const runEvents = async (course: Course): Promise<number> => {
  let disturbed = 0;
  for (const { name, at, act } of planEvents(course)) {
    await reach(course, at);
    course.options.onStep(`${name} at ${at.toFixed(2)}`);
    disturbed += await act();
  }
  await reach(course, 0.65);
  return disturbed;
};

/** Sends codes, half of them to those who know the first account, which is unlinked meanwhile. */
const unlinkFirst = ({ stage, options, phones, ended }: Course) => {
  const [main] = stage.accounts;
  const known = readArrivals(stage).filter(({ account }) => account === main?.id);
  const knowing = [...new Set(known.map(({ phone }) => phone))];
  options.onStep("codes while the first account is unlinked");
  return sendCodes(stage, options, "unlinked", [...knowing, ...phones.slice(0, knowing.length)], () => {
    main?.unlink();
    ended.set(main?.id ?? 0, Date.now());
  });
};

/** Sends codes while the platform is away, then without any linked account. */
const endAll = async ({ stage, options, phones, ended }: Course) => {
  options.onStep("codes while the platform is away");
  const away = await sendCodes(stage, options, "away", phones, () => stage.platform.leave());
  stage.platform.comeBack();
  await stage.untilReady(ended);
  options.onStep("codes without a linked account");
  const none = await sendCodes(stage, options, "none", phones, () => {
    for (const account of stage.accounts) account.unlink();
  });
  return { away, none };
};

/** Hands over all notices, before any is sent. */
const acceptAll = async ({ stage, options, notices }: Course) => {
  await setPaused(stage.admin, true);
  const waiting = [...notices];
  const accepted = options.accepts > 0 ? await measureAcceptance(stage, waiting, options) : undefined;
  while (stage.tasks.length < options.tasks) await stage.start();
  await stage.untilReady();
  await accept(stage, waiting);
  options.onStep("accepted");
  await setPaused(stage.admin, false);
  return accepted;
};

/**
 * Sends notices to many recipients through many accounts while accounts are banned and a task is killed; then one-time codes
 * while the first account is unlinked, while no connection works, and without any linked account.
 */
export const runTrial = async (options: TrialOptions) => {
  const stage = await openStage(options);
  try {
    options.onStep("linked");
    const phones = Array.from({ length: options.recipients }, (_, n) => String(6_281_200_000_000 + n));
    const notices = listNotices(phones);
    const course: Course = { stage, options, phones, notices, ended: new Map() };
    const accepted = await acceptAll(course);
    const started = performance.now();
    const disturbed = await runEvents(course);
    const unlinked = await unlinkFirst(course);
    await until("all notices", async () => (await listOpen(stage)).open.length === 0, 1_800_000);
    const seconds = Math.round((performance.now() - started) / 1_000);
    const verdict = await judge(course);
    const arrivals = readArrivals(stage);
    const accounts = stage.accounts.map((account) => ofAccount(arrivals, account));
    const codes = { unlinked, ...(await endAll(course)) };
    return { accepted, notices: notices.length, seconds, ...verdict, disturbed, accounts, codes };
  } finally {
    await stage.stop();
  }
};
