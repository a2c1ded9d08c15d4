import { expect, test } from "vitest";
import { openIntake } from "#lib/messenger/accept/intake.ts";
import { newId, sql, text, useDatabase } from "./accept-steps.ts";

useDatabase();

test("a message that the database rejects fails alone, and those that came with it are stored in order", async () => {
  const store = openIntake(sql);
  const missingMedia = 404;
  const messages = [null, missingMedia, null].map((mediaId) => ({
    ...{ id: newId(), mediaId },
    submission: text(),
  }));
  const [first, rejected, last] = await Promise.allSettled(messages.map(store));
  expect([first?.status, rejected, last?.status]).toMatchObject([
    "fulfilled",
    { reason: { constraint_name: "message_media_id_fkey" } },
    "fulfilled",
  ]);
  const stored = await sql<{ id: string }[]>`select id from messaging.message order by seq`;
  expect(stored.map(({ id }) => id)).toEqual([messages[0]?.id, messages[2]?.id]);
});
