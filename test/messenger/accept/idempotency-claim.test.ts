import type postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { Submission } from "#lib/messaging/submission.ts";
import { type AcceptanceOptions, accept } from "#lib/messenger/accept/acceptance.ts";
import { openIntake } from "#lib/messenger/accept/intake.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

let sql: postgres.Sql;
let intake: AcceptanceOptions["store"];
let made = 0;

beforeEach(async () => {
  sql = (await createMessengerDatabase()).connect();
  intake = openIntake(sql);
});

const submit = (more: Partial<Submission>) =>
  Submission.parse({ sender: "api:test", phone: "6281200000001", ...more });
const file = submit({ kind: "file", idempotency_key: "k" });
const bytes = Buffer.from("a");

const take = (submission: Submission, inline: Buffer | undefined, store = intake) =>
  accept(
    {
      ...{
        sql,
        store,
        quota: { take: async () => () => {}, takeBytes: async () => {} },
        seal: (_, text) => text,
        notify: () => {},
      },
      newId: () => `3EB0${++made}`,
      isOptedOut: async () => false,
      fetchMedia: async () => ({
        contentType: "text/plain",
        fileName: "a.txt",
        body: (async function* () {
          yield bytes;
        })(),
      }),
    },
    submission,
    inline,
  );

/** A request for the file that waits before its message is stored, and what lets it continue. */
const takeSlowly = async () => {
  const { promise: continued, resolve: proceed } = Promise.withResolvers<void>();
  const { promise: waits, resolve: arrive } = Promise.withResolvers<void>();
  const answer = take(file, bytes, async (message) => {
    arrive();
    await continued;
    return intake(message);
  });
  answer.catch(() => {});
  await waits;
  return { answer, proceed };
};

const expireClaim = () => sql`update messaging.idempotency set created_at = now() - interval '3 minutes'`;
const count = async (table: "message" | "media") =>
  Number((await sql`select count(*) as count from ${sql(`messaging.${table}`)}`)[0]?.count);

test("a request whose claim another took while it was stored is refused, and what came with it is stored", async () => {
  const first = await takeSlowly();
  await expireClaim();
  const { id } = await take(file, bytes);
  first.proceed();
  const text = take(submit({ kind: "text", text: "in the same statement" }), undefined);
  await expect(first.answer).rejects.toMatchObject({ status: 409, retryAfterSeconds: 1 });
  expect((await text).status).toBe("PENDING");
  expect([await count("message"), await count("media"), (await take(file, bytes)).id]).toEqual([2, 1, id]);
});

test("a claim that another request took over stays with it when the first one is refused", async () => {
  const first = await takeSlowly();
  await expireClaim();
  const second = await takeSlowly();
  first.proceed();
  await expect(first.answer).rejects.toMatchObject({ status: 409 });
  await expect(take(file, bytes)).rejects.toMatchObject({ status: 409 });
  second.proceed();
  const { id } = await second.answer;
  expect([await count("message"), await count("media"), (await take(file, bytes)).id]).toEqual([1, 1, id]);
});
