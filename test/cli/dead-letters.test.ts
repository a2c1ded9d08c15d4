import { expect, test } from "vitest";
import { callCommand } from "../steps/command.ts";
import { startJobsStack } from "./jobs-stack.ts";

const run = { job: "queue-ticket", scheduled_time: "2026-01-05T02:00:00Z" };
const requested = (id: string, phone: string) => ({
  id,
  "detail-type": "NotificationRequested",
  detail: { template: "one-time-code", phone, values: { code: "739104" } },
});

const letters = [
  { id: "first", body: run },
  { id: "second", body: requested("event-2", "6281200000002") },
  { id: "third", body: requested("event-3-fails", "6281200000003") },
];

const command = (settings: Record<string, string>, ...args: string[]) =>
  callCommand(() => import("../../infra/cli/dead-letters.ts"), settings, ...args);
const settingsFor = (url: string) => ({
  AWS_REGION: "local",
  AWS_ACCESS_KEY_ID: "local",
  AWS_SECRET_ACCESS_KEY: "local",
  AWS_ENDPOINT_URL: url,
});

test("lists the subject of each event without number or text, and releases all of them", async () => {
  const aws = await startJobsStack(letters);
  const { status, out } = await command(settingsFor(aws.url), "list", "--stage", "test");
  expect(status).toBe(0);
  expect(out).toMatch(/^first +2025-06-15 22:06 WIB +run of queue-ticket at 2026-01-05T02:00:00Z$/m);
  expect(out).toMatch(/^second .* one-time-code, requested by event event-2$/m);
  expect(out).not.toMatch(/62812|739104/);
  expect(aws.letters.map(({ id, hidden }) => [id, hidden])).toEqual(letters.map(({ id }) => [id, false]));
});

test("retries each event unchanged, deletes those that succeed and releases the rest", async () => {
  const aws = await startJobsStack(letters);
  const { status, out } = await command(settingsFor(aws.url), "redo", "--stage", "test");
  expect([status, out.match(/^done/gm)?.length, out.match(/^failed again/gm)?.length]).toEqual([3, 2, 1]);
  expect(aws.invoked.map((body) => JSON.parse(body))).toEqual(letters.map(({ body }) => body));
  expect(aws.letters).toMatchObject([{ id: "third", hidden: false }]);
  expect(out).not.toMatch(/62812|739104/);
});

test("deletes one event, or reports that it does not exist", async () => {
  const aws = await startJobsStack(letters);
  expect((await command(settingsFor(aws.url), "drop", "second", "--stage", "test")).status).toBe(0);
  expect(aws.letters.map(({ id, hidden }) => [id, hidden])).toEqual([
    ["first", false],
    ["third", false],
  ]);
  expect(await command(settingsFor(aws.url), "drop", "second", "--stage", "test")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("No dead letter with ID second"),
  });
});

test.each([
  [2, [], /^A command is missing/m],
  [2, ["list"], /^Add --stage NAME/],
  [2, ["lise", "--stage", "test"], /^Unknown command 'lise'\. Did you mean list\?/],
  [2, ["drop", "--stage", "test"], /^Missing required argument 'id'/],
  [2, ["list", "a", "--stage", "test"], /^Too many arguments for 'list'/],
  [2, ["drop", "a", "b", "--stage", "test"], /^Too many arguments for 'drop'/],
  [1, ["list", "--stage", "none"], /^The AWS request failed: .*municipal-none-jobs does not exist/],
])("ends with exit code %i and says what is wrong with %j", async (code, args, message) => {
  const { status, errors } = await command(settingsFor((await startJobsStack()).url), ...args);
  expect([status, errors]).toEqual([code, expect.stringMatching(message)]);
});
