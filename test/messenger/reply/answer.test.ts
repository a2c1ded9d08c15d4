import type { proto } from "baileys";
import { expect, test } from "vitest";
import type { Envelope } from "../../../infra/local/whatsapp/phone.ts";
import {
  database,
  openConsole,
  phone,
  platform,
  sql,
  stageEachTest,
  start,
  startOpen,
  untilOpen,
} from "../../fleet/running-task.ts";
import { isOut, listReplies, untilHandled, untilTexts, write } from "./reply-steps.ts";

stageEachTest();

const answer = "Nomor ini tidak membaca pesan; hubungi 112.\nThis number does not read messages; call 112.";
const startAnswering = async () => {
  const task = await startOpen();
  await sql`update messaging.control set answer = ${answer}`;
  return task;
};
const later = (hours: number) => sql`update messaging.answered set at = at - ${hours} * interval '1 hour'`;

test("a person who writes anything else is answered once a day", async () => {
  await startAnswering();
  await write("My house is on fire");
  expect(await untilTexts(1)).toEqual([answer]);
  await write("Hello?");
  await later(23);
  await write("stop sending me X", { from: "lid" });
  expect(await listReplies()).toHaveLength(1);
  await later(2);
  await write({ imageMessage: { caption: "STOP", url: "https://example.invalid/i", mimetype: "image/png" } });
  expect((await listReplies()).map(({ text, class: kind }) => [text, kind])).toEqual([
    [answer, 1],
    [answer, 1],
  ]);
  expect(await isOut()).toBe(false);
  const [row] = await sql`
    select extract(epoch from expires_at - accepted_at)::int as seconds from messaging.message where sender = 'reply'`;
  expect(row?.seconds).toBe(3_600);
});

test.each<[string, string | proto.IMessage, Envelope?]>([
  ["a word", "stop"],
  ["a word that changes nothing", "mulai"],
  ["a group", "hello", { chat: "120363000000000001@g.us" }],
  ["a broadcast list", "hello", { chat: "1700000000@broadcast" }],
  ["a status", "hello", { chat: "status@broadcast" }],
  ["a channel", "hello", { chat: "120363000000000001@newsletter" }],
  ["a reaction", { reactionMessage: { key: { id: "3EB0", fromMe: true }, text: "👍" } }],
  ["a deleted message", { protocolMessage: { type: 0, key: { id: "3A", fromMe: false } } }],
  [
    "an edit",
    {
      protocolMessage: {
        type: 14,
        key: { id: "3A", fromMe: true },
        editedMessage: { conversation: "hello" },
      },
    },
  ],
  ["a hidden number", "hello", { from: "hidden number" }],
  ["a message from before the connection", "hello", { sentAt: new Date(Date.now() - 120_000) }],
  ["a message without a time", "hello", { attrs: { t: "" } }],
])("%s is not answered", async (_, message, envelope) => {
  await startAnswering();
  await write(message, envelope);
  expect((await listReplies()).filter(({ text }) => text === answer)).toEqual([]);
});

test("a message that the platform marks with offline=0 is live, and answered", async () => {
  await startAnswering();
  await write("hello", { attrs: { offline: "0" } });
  expect(await listReplies()).toMatchObject([{ text: answer }]);
});

test("what was written while the messenger was away is not answered", async () => {
  const first = await startAnswering();
  await first.stop();
  await platform.write(phone, "hello");
  await untilOpen(await start());
  await untilHandled();
  expect(await listReplies()).toEqual([]);
});

test("an operator sets and removes the answer in the console, where it stands, and both are recorded", async () => {
  const task = await startOpen();
  const { press, read } = await openConsole(task);
  await write("hello");
  expect(await press("answer", { answer: ` ${answer.replace("\n", "\r\n")} ` })).toContain("call 112.");
  await write("hello");
  expect(await untilTexts(1)).toEqual([answer]);
  expect(await press("answer", { answer: "x".repeat(401) })).toContain("enter 1 to 400 characters");
  expect(await press("answer", { answer: " " })).toContain("was not changed");
  await press("no-answer");
  expect(await read()).toContain("Now: no answer.");
  await later(25);
  await write("hello");
  expect(await listReplies()).toHaveLength(1);
  const acts = await database.admin`
    select action, result from messaging.operator_act join messaging.operator_result on act = id where action <> 'login' order by id`;
  expect(acts.map(({ action, result }) => `${action} ${result}`)).toEqual([
    ...["answer done", "answer failed", "answer failed", "no-answer done"],
  ]);
});
