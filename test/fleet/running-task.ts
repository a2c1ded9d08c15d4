import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import { beforeEach, expect, onTestFinished, vi } from "vitest";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { type PageName, pageNames, pathOfPage } from "#lib/console/page.ts";
import { steadyNow } from "#lib/deadline.ts";
import type { Accepted, MessageState } from "#lib/messaging/submission.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { noPace, type Pace } from "#lib/messenger/send/pace.ts";
import { startTask, type Task, type TaskOptions } from "#lib/messenger/task.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type Platform, startPlatform } from "../../infra/local/whatsapp/platform.ts";
import { operator, userOf } from "../steps/console.ts";
import { textOf } from "../steps/page-text.ts";
import { type Assignment, describePlatform, noSettings, pepper } from "./assignment.ts";
import { createMessengerDatabase } from "./messenger-database.ts";

/*
 * What the tests of a running task share: a database, a platform with one citizen's phone, and calls to the task.
 */
export const phone = "6281200000001";
export const token = randomBytes(24).toString("base64url");
const user = await userOf();
const encryptionKey = secretTable["messenger-key"].mint();
export const encryption = encryptionWith(encryptionKey);
/** Of the current test. */
export let platform: Platform;
export let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
export let sql: postgres.Sql;

/** Makes a database and a platform for each test of the file. */
export const stageEachTest = () => {
  vi.stubEnv("LOG_LEVEL", "error");
  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(1);
    platform = await startPlatform({ phones: [phone] });
    platform.behave({ receipts: ["delivered", "read"] });
    onTestFinished(() => platform.stop());
  });
};

/**
 * Starts a task until the test ends.
 *
 * @param settings instead of those of the stage's platform. @param options of the task, such as the addresses it may call.
 */
export const start = async (
  pace: Pace = noPace,
  settings: WhatsAppSettings = {},
  options: Partial<
    Pick<TaskOptions, "connect" | "connector" | "schedule" | "findSettings" | "findUsers">
  > = {},
): Promise<Task> => {
  const task = await startTask({
    connect: async (max, onClose) => database.open(max, onClose),
    connectConsole: async (max) => database.connectConsole(max),
    encryption,
    platform: {
      url: platform.url,
      rootKey: platform.rootKey,
      mediaCa: platform.mediaCa,
      versionUrl: platform.versionUrl,
      reconnection: { minMs: 20, maxMs: 200, stableMs: 60_000 },
      answerTimeoutMs: 3_000,
      ...settings,
    },
    pace,
    maxWaiting: 10_000,
    findTokens: async () => [token],
    findUsers: async () => [user],
    findPepper: async () => digestWith({ version: 1, pepper }),
    jobs: ["appointment-reminder"],
    findSettings: noSettings,
    host: "127.0.0.1",
    port: 0,
    ...options,
  });
  onTestFinished(() => task.stop());
  return task;
};

/** For a task in another process. @param channel the settings of all accounts that are reached by requests. */
export const assign = (channel?: Assignment["channel"]): Assignment => ({
  ...{ databaseUrl: database.url, encryptionKey, token, pace: noPace },
  platform: describePlatform(platform),
  ...(channel && { channel }),
});

export const ask = async (task: Task, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  const response = await fetch(`${task.url}${path}`, { ...init, headers });
  return { status: response.status, json: (await response.json()) as never };
};
/** The metrics of its account that are not 0: how many sends had each outcome, and others. */
export const metricsOf = (task: Task): Record<string, number> => {
  const { counts, pacing } = task.findLeadership() ?? expect.fail("the task does not lead");
  const metrics = { ...counts.totals, limited: pacing.isLimited(steadyNow()) ? 1 : 0 };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== 0));
};
export const json = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const to = { sender: "api:test", phone };
export const text = { ...to, kind: "text", text: "hello" };
export const submit = async (task: Task, submission: Record<string, unknown>): Promise<Accepted> => {
  const answer = await ask(task, "/messages", json({ ...text, ...submission }));
  expect(answer.status).toBe(201);
  return answer.json;
};
export const upload = (task: Task, submission: Record<string, unknown>, bytes: Buffer) =>
  ask(task, "/messages", {
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "x-submission": Buffer.from(JSON.stringify({ ...to, ...submission })).toString("base64url"),
    },
    body: new Uint8Array(bytes),
  });
export const stateOf = async (task: Task, id: string): Promise<MessageState> =>
  (await ask(task, `/messages/${id}?sender=${to.sender}`)).json;
export const eventually = (task: Task, id: string, status: string) =>
  expect.poll(async () => (await stateOf(task, id)).status).toBe(status);

const logIn = async ({ url }: Task): Promise<string> => {
  const login = await fetch(`${url}/console/login`, {
    method: "POST",
    headers: { origin: url, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams(operator),
    redirect: "manual",
  });
  return login.headers.get("set-cookie")?.split(";")[0] ?? "";
};

/** One for each task: the console checks one password per second. */
const logins = new WeakMap<Task, string>();

const readPages = async ({ url }: Task, cookie: string): Promise<string> => {
  const read = async (name: PageName) =>
    (await fetch(`${url}${pathOfPage(name)}`, { headers: { cookie } })).text();
  return (await Promise.all(pageNames.map(read))).join("\n");
};

/** Reads the console's pages, one after the other. */
export const readConsole = async (task: Task): Promise<string> => {
  const cookie = logins.get(task) || (await logIn(task));
  logins.set(task, cookie);
  return readPages(task, cookie);
};

export const untilKind = (task: Task, kind: string) =>
  expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toBe(kind);

export const untilOpen = async (task: Task, on: Platform = platform) => {
  await expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toMatch(/pairing|open/);
  const state = task.findLeadership()?.whatsApp?.state();
  if (state?.kind === "pairing") await on.scan(state.qr);
  await expect.poll(() => task.findLeadership()?.whatsApp?.state().kind).toBe("open");
};
export const startOpen = async () => {
  const task = await start();
  await untilOpen(task);
  return task;
};

/** Logs in to the task's console. */
export const openConsole = async (task: Task) => {
  const { url } = task;
  const post = async (path: string, fields: Record<string, string>, cookie: string) =>
    fetch(`${url}/console${path}`, {
      method: "POST",
      headers: { cookie, origin: url, "sec-fetch-site": "same-origin" },
      body: new URLSearchParams(fields),
      redirect: "manual",
    });
  const cookie = await logIn(task);
  const read = async () => {
    const pages = await readPages(task, cookie);
    // without what is hidden
    return textOf(pages.replace(/<(section|form)[^>]* hidden>[\s\S]*?<\/\1>/g, ""));
  };
  /** @returns the page after the action. */
  const press = async (action: string, fields: Record<string, string> = {}) => {
    await post(`/${action}`, fields, cookie);
    return read();
  };
  return {
    read,
    press,
    submit: (action: string, fields: Record<string, string>) => post(`/${action}`, fields, cookie),
  };
};
