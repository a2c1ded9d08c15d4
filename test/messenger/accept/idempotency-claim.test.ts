import { expect, test } from "vitest";
import { acceptWith, count, file, sql, store, text, useDatabase } from "./accept-steps.ts";

useDatabase();

const bytes = Buffer.from("a");
const takeFile = (options: Parameters<typeof acceptWith>[0] = {}) =>
  acceptWith(options, file({ idempotency_key: "k" }), bytes);

/** A request for the file that waits before its message is stored, and what lets it continue. */
const takeSlowly = async () => {
  const { promise: continued, resolve: proceed } = Promise.withResolvers<void>();
  const { promise: waits, resolve: arrive } = Promise.withResolvers<void>();
  const answer = takeFile({
    store: async (message) => {
      arrive();
      await continued;
      return store(message);
    },
  });
  answer.catch(() => {});
  await waits;
  return { answer, proceed };
};

const expireClaim = () => sql`update messaging.idempotency set created_at = now() - interval '3 minutes'`;

test("a request whose claim another took while it was stored is refused, and what came with it is stored", async () => {
  const first = await takeSlowly();
  await expireClaim();
  const { id } = await takeFile();
  first.proceed();
  const other = acceptWith({}, text({ text: "in the same statement" }));
  await expect(first.answer).rejects.toMatchObject({ status: 409, retryAfterSeconds: 1 });
  expect((await other).status).toBe("PENDING");
  expect([await count("message"), await count("media"), (await takeFile()).id]).toEqual([2, 1, id]);
});

test("a claim that another request took over stays with it when the first one is refused", async () => {
  const first = await takeSlowly();
  await expireClaim();
  const second = await takeSlowly();
  first.proceed();
  await expect(first.answer).rejects.toMatchObject({ status: 409 });
  await expect(takeFile()).rejects.toMatchObject({ status: 409 });
  second.proceed();
  const { id } = await second.answer;
  expect([await count("message"), await count("media"), (await takeFile()).id]).toEqual([1, 1, id]);
});
