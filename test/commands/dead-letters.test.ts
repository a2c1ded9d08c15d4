import { expect, test } from "vitest";
import { callCommand } from "../steps/command.ts";
import { playAwsCli } from "./aws-cli.ts";

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

const command = (path: string, ...args: string[]) =>
  callCommand(() => import("../../infra/commands/dead-letters.ts"), { PATH: path }, ...args);

test("lists what each is about, without number or text, and puts all of them back", async () => {
  const aws = playAwsCli(letters);
  const { status, out } = await command(aws.path, "list", "--stage", "test");
  expect(status).toBe(0);
  expect(out).toMatch(/^first +2025-06-15 15:06 +run of queue-ticket of 2026-01-05T02:00:00Z$/m);
  expect(out).toMatch(/^second .* one-time-code, requested by the event event-2$/m);
  expect(out).not.toMatch(/62812|739104/);
  expect(aws.read().letters.map(({ id, hidden }) => [id, hidden])).toEqual(
    letters.map(({ id }) => [id, false]),
  );
});

test("does each again as it was, deletes what succeeded and puts the rest back", async () => {
  const aws = playAwsCli(letters);
  const { status, out } = await command(aws.path, "redo", "--stage", "test");
  expect([status, out.match(/^done/gm)?.length, out.match(/^failed again/gm)?.length]).toEqual([2, 2, 1]);
  const { invoked, letters: left, commands } = aws.read();
  expect(invoked.map((body) => JSON.parse(body))).toEqual(letters.map(({ body }) => body));
  expect(left).toMatchObject([{ id: "third", hidden: false }]);
  // the command line is for every user of the machine to read
  expect(commands.join("\n")).not.toMatch(/62812|739104/);
});

test("drops one, and says so when there is none", async () => {
  const aws = playAwsCli(letters);
  expect((await command(aws.path, "drop", "second", "--stage", "test")).status).toBe(0);
  expect(aws.read().letters.map(({ id, hidden }) => [id, hidden])).toEqual([
    ["first", false],
    ["third", false],
  ]);
  expect(await command(aws.path, "drop", "second", "--stage", "test")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("no dead letter second"),
  });
});

test.each([
  [[], /^Usage/],
  [["list"], /--stage prod/],
  [["lose", "--stage", "test"], /choose list, redo or drop/],
  [["drop", "--stage", "test"], /Give the id/],
  [["list", "--stage", "none"], /Stack does not exist/],
])("says what is wrong with %j", async (args, message) => {
  const { status, out, errors } = await command(playAwsCli([]).path, ...args);
  expect(status).toBe(1);
  expect(out || errors).toMatch(message);
});

test("says that the AWS CLI is missing", async () =>
  expect((await command("/nowhere", "list", "--stage", "test")).errors).toContain(
    "AWS CLI is not installed",
  ));
