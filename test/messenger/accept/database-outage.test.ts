import { expect, onTestFinished, test } from "vitest";
import { type Draft, submit } from "#lib/messaging/messenger-client.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { endBlocked } from "../../fleet/blocked-connections.ts";
import { failNextWrite, holdNextWrite } from "../../fleet/next-write.ts";
import { database, phone, sql, stageEachTest, start, token } from "../../fleet/running-task.ts";
import { startWire } from "../../steps/wire.ts";

stageEachTest();

const drafts = {
  "a text": { kind: "text", text: "hello" },
  "a text with an Idempotency-Key": { kind: "text", text: "hello", idempotency_key: "outage-1" },
  "a file": { kind: "file" },
  "a file with an Idempotency-Key": { kind: "file", idempotency_key: "outage-2" },
} as const satisfies Record<string, Partial<Draft>>;
const each = Object.entries(drafts);

/** Starts a messenger whose connections to the database lead through a wire. */
const startApart = async () => {
  const address = new URL(database.url);
  const wire = await startWire(Number(address.port));
  onTestFinished(() => wire.stop());
  address.port = String(wire.port);
  const { url } = await start(
    noPace,
    {},
    { connect: async (max, onClose) => database.open(max, onClose, address.href) },
  );
  const send = (more: (typeof each)[number][1]) =>
    submit(
      { sender: "api:test", phone, ...more },
      {
        ...(more.kind === "file" && { content: Buffer.from("a letter") }),
        findTarget: async () => ({ url, token }),
      },
    );
  return { wire, send };
};
const diskFull = "53100";
const countMessages = async () => (await sql`select from messaging.message`).count;

test.each(each)("while the database takes no connections, %s is not accepted", async (_, draft) => {
  const { wire, send } = await startApart();
  wire.stop();
  await expect(send(draft)).rejects.toMatchObject({ status: 503, code: "session_unavailable" });
  expect(await countMessages()).toBe(0);
});

test.each(each)("%s is not accepted by a database that rejects it", async (_, draft) => {
  const { send } = await startApart();
  await failNextWrite(database.admin, { table: "message" }, diskFull);
  await expect(send(draft)).rejects.toMatchObject({ status: 503, code: "session_unavailable" });
  expect(await countMessages()).toBe(0);
});

test.each(each)(
  "it is unknown whether %s is accepted when the connection is lost at its insert",
  async (_, draft) => {
    const { send } = await startApart();
    const insert = await holdNextWrite(database, { table: "message" });
    const sent = expect(send(draft)).rejects.toMatchObject({ status: 503, code: "outcome_unknown" });
    await endBlocked(sql);
    await sent;
    await insert.release();
  },
);
