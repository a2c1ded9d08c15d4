import type { proto } from "baileys";
import { expect, test, vi } from "vitest";
import { captureLog } from "../../console/console-browser.ts";
import { database, platform, stageEachTest, startOpen } from "../../fleet/running-task.ts";
import { listReplies, write } from "./reply-steps.ts";

stageEachTest();

/** Lists the tables in which one of these texts stands, also as bytes. */
const findTables = async (texts: readonly string[]): Promise<string[]> => {
  const tables = await database.admin<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const found = tables.map(async ({ name }) => {
    const pattern = `%(${texts.flatMap((text) => [text, Buffer.from(text).toString("hex")]).join("|")})%`;
    const rows = await database.admin.unsafe(`select from ${name} t where t::text similar to $1 limit 1`, [
      pattern,
    ]);
    return rows.length > 0 ? [name] : [];
  });
  return (await Promise.all(found)).flat().sort();
};

const planted = "PLANTED";
const messages: readonly proto.IMessage[] = [
  { conversation: planted },
  { extendedTextMessage: { text: planted, contextInfo: { quotedMessage: { conversation: planted } } } },
  { ephemeralMessage: { message: { extendedTextMessage: { text: planted } } } },
  { imageMessage: { caption: planted, url: `https://example.invalid/${planted}`, mimetype: "image/png" } },
  { contactMessage: { displayName: planted, vcard: planted } },
  { locationMessage: { degreesLatitude: 1, degreesLongitude: 1, name: planted } },
  { buttonsResponseMessage: { selectedDisplayText: planted, selectedButtonId: planted } },
  { listResponseMessage: { title: planted, description: planted } },
  { reactionMessage: { key: { id: planted, fromMe: true }, text: planted } },
  { protocolMessage: { type: 0, key: { id: planted, fromMe: false } } },
  {
    protocolMessage: {
      type: 14,
      key: { id: planted, fromMe: true },
      editedMessage: { conversation: planted },
    },
  },
  { pollCreationMessage: { name: planted, options: [{ optionName: planted }] } },
  {},
];

test("nothing of what persons write is stored or logged, but the keys of their addresses", async () => {
  vi.stubEnv("LOG_LEVEL", "debug");
  const lines = captureLog();
  await startOpen();
  const [first, second] = [platform.register("6281255500001"), platform.register("6281255500002")];
  const texts = [planted, ...[first, second].flatMap(({ number, lid }) => [number, lid])];
  for (const message of messages) {
    await write(message, {}, first);
    await write(message, { from: "lid", attrs: { notify: planted } }, second);
  }
  await write({ conversation: planted }, { chat: "120363000000000001@g.us" }, first);
  await write({ conversation: "mulai" }, {}, first);
  await write({ conversation: "stop" }, { from: "hidden number" }, platform.register("6281255500003"));
  expect(await findTables(texts)).toEqual(["messaging.auth_key"]);
  expect(await findTables([planted])).toEqual([]);
  await write({ conversation: "stop" }, {}, first);
  expect(await listReplies()).toHaveLength(1);
  await platform.until(() => first.inbox.length > 0);
  const log = lines.join("");
  for (const text of texts) expect(log).not.toContain(text);
  expect(await findTables([planted])).toEqual([]);
});
