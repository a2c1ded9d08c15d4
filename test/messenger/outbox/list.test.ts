import type postgres from "postgres";
import { describe, expect, onTestFinished, test } from "vitest";
import type { MessageQuery } from "#lib/messaging/submission.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { listMessages } from "#lib/messenger/outbox/list.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { putMessage } from "../../fleet/outbox-rows.ts";
import { database, sql, useOutbox } from "./outbox-steps.ts";

const encryption = encryptionWith(secretTable["messenger-key"].mint());
useOutbox(8);

const list = async (query: Partial<MessageQuery> = {}) => {
  const { messages, next } = await listMessages(sql, encryption, { sender: "api:test", limit: 50, ...query });
  return { ids: messages.map(({ id }) => id), next };
};
const put = async (...ids: string[]) => {
  for (const id of ids) await putMessage(sql, id);
};

/** Reads all pages. @param after the page before the first one to read */
const readOn = async (limit: number, after?: string): Promise<string[]> => {
  const { ids, next } = await list({ limit, ...(after !== undefined && { after }) });
  return next === null ? ids : [...ids, ...(await readOn(limit, next))];
};

describe("a list", () => {
  test("has a sender's own messages in the order of acceptance, with their states", async () => {
    await put("C", "A");
    await putMessage(sql, "other", { sender: "api:other" });
    await put("B");
    expect(await list()).toEqual({ ids: ["C", "A", "B"], next: null });
    const { messages } = await listMessages(sql, encryption, { sender: "api:other", limit: 1 });
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(messages).toEqual([{ id: "other", status: "PENDING", accepted_at: time, changed_at: time }]);
  });

  test("is read in pages, of which the last one has no next", async () => {
    await put("A", "B", "C", "D");
    const first = await list({ limit: 2 });
    expect(first).toEqual({ ids: ["A", "B"], next: expect.stringMatching(/^[\w-]{20,200}$/) });
    expect(await list({ limit: 2, after: first.next ?? "" })).toEqual({ ids: ["C", "D"], next: null });
    await put("E");
    expect((await list({ limit: 2, after: first.next ?? "" })).next).not.toBeNull();
  });

  test("of a state has the messages that are in it", async () => {
    await put("A", "B", "C");
    await sql`update messaging.message set state = 'FAILED' where id in ('A', 'C')`;
    expect((await list({ state: "FAILED" })).ids).toEqual(["A", "C"]);
    expect(await readOn(1)).toEqual(["A", "B", "C"]);
  });

  test("of a state looks through a bounded number of messages for each page, and its pages miss none", async () => {
    await put("A", "B", "C", "D", "E", "F", "G");
    await sql`update messaging.message set state = 'FAILED' where id in ('D', 'G')`;
    const pages: (readonly string[])[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const query = { sender: "api:test", state: "FAILED", limit: 50, after } as const;
      const { messages, next } = await listMessages(sql, encryption, query, 3);
      pages.push(messages.map(({ id }) => id));
      after = next;
    }
    expect(pages).toEqual([[], ["D"], ["G"]]);
    await put("H", "I");
    expect((await listMessages(sql, encryption, { sender: "api:test", limit: 50 }, 3)).messages).toHaveLength(
      9,
    );
  });

  test.each(["PENDING", "SENDING"] as const)("of %s has those for later, too", async (state) => {
    await put("A", "B");
    await putMessage(sql, "later", { send_at: new Date(Date.now() + 3_600_000).toISOString() });
    await put("C");
    await sql`update messaging.message set state = ${state} where id <> 'B'`;
    await sql`update messaging.message set state = 'READ' where id = 'B'`;
    expect(await list({ state, limit: 2 })).toEqual({ ids: ["A", "later"], next: expect.any(String) });
    const { next } = await list({ state, limit: 2 });
    expect(await list({ state, after: next ?? "" })).toEqual({ ids: ["C"], next: null });
  });

  test("since a time has those accepted then or later, however they were accepted before", async () => {
    await put("A", "B", "C", "D");
    await sql`update messaging.message set accepted_at = '2026-05-01T08:00Z'::timestamptz + case id
      when 'A' then interval '-3 hours' when 'B' then interval '-1 s' when 'C' then interval '0' else interval '-1 ms' end`;
    expect((await list({ since: "2026-05-01T08:00:00.000Z" })).ids).toEqual(["C"]);
    expect((await list({ since: "2026-05-01T07:59:59.999Z" })).ids).toEqual(["C", "D"]);
    expect((await list({ since: "2026-05-02T00:00:00.000Z" })).ids).toEqual([]);
  });

  test("does not continue from the end of another sender's page, or from a changed one", async () => {
    await put("A", "B");
    const next = (await list({ limit: 1 })).next ?? expect.fail("there is one page only");
    const last = next.at(-1) === "A" ? "B" : "A";
    const changed = [`${next.slice(0, -1)}${last}`, `${next}A`, next.slice(1), "2", "x"];
    for (const after of changed)
      await expect(list({ after })).rejects.toMatchObject({
        status: 400,
        message: "after must be next of the previous page, unchanged",
      });
    await expect(list({ sender: "api:other", after: next })).rejects.toMatchObject({ status: 400 });
    expect((await list({ after: next })).ids).toEqual(["B"]);
  });
});

/** Accepts a message in a transaction that stays open. @returns what commits it */
const holdOpen = async (id: string): Promise<() => Promise<void>> => {
  const [stored, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = sql.begin(async (transaction) => {
    await putMessage(transaction as unknown as postgres.Sql, id);
    stored.resolve();
    await go.promise;
  });
  onTestFinished(() => go.resolve());
  await stored.promise;
  return async () => {
    go.resolve();
    await done;
  };
};

describe("while messages are being accepted, a list", () => {
  test("ends before the first whose transaction is in progress, and has it and all after it later", async () => {
    await put("A");
    const commitB = await holdOpen("B");
    await put("C");
    const commitD = await holdOpen("D");
    await put("E");
    expect(await list()).toEqual({ ids: ["A"], next: null });
    await commitB();
    expect((await list()).ids).toEqual(["A", "B", "C"]);
    await commitD();
    expect((await list()).ids).toEqual(["A", "B", "C", "D", "E"]);
  });

  test("does not wait for a transaction that accepts nothing", async () => {
    await put("A", "B");
    const [started, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = sql.begin(async (transaction) => {
      await transaction`update messaging.message set changed_at = now() where id = 'A'`;
      started.resolve();
      await go.promise;
    });
    await started.promise;
    await put("C");
    expect((await list()).ids).toEqual(["A", "B", "C"]);
    go.resolve();
    await other;
  });

  test("passes over one that was rolled back", async () => {
    await put("A");
    await expect(
      sql.begin(async (transaction) => {
        await putMessage(transaction as unknown as postgres.Sql, "B");
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    await put("C");
    expect((await list()).ids).toEqual(["A", "C"]);
  });

  test("neither skips nor repeats one, whichever of many connections commits first", async () => {
    const writers = database.connect(20);
    const total = 600;
    const write = async (writer: number) => {
      for (let n = 0; n < total / 20; n++)
        await writers.begin(async (transaction) => {
          await putMessage(transaction as unknown as postgres.Sql, `${writer}/${n}`);
          // holds the transaction open beside others that commit
          if ((writer + n) % 3 === 0) await transaction`select pg_sleep(0.01)`;
        });
    };
    const seen: string[] = [];
    let after: string | undefined;
    const read = async () => {
      const { ids, next } = await list({ limit: 7, ...(after !== undefined && { after }) });
      // the last page may grow: only whole ones count as read
      if (next !== null) {
        seen.push(...ids);
        after = next;
      }
    };
    let isWriting = true;
    const writing = Promise.all(Array.from({ length: 20 }, (_, writer) => write(writer))).finally(() => {
      isWriting = false;
    });
    while (isWriting) await read();
    await writing;
    const rest = await readOn(100, after);
    const all = await sql<{ id: string }[]>`select id from messaging.message order by seq`;
    expect([...seen, ...rest]).toEqual(all.map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(0);
  });
});
