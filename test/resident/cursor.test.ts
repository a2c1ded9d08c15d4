import type postgres from "postgres";
import { expect, test } from "vitest";
import { addReader } from "../steps/residents/reader.ts";
import { insertSeries } from "../steps/residents/resident-series.ts";
import { type Cursor, readStep } from "../steps/residents/walk-step.ts";
import { createDatabase } from "../steps/temporary-database.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const prepare = async () => {
  const database = await createDatabase();
  const sql = database.connect("adminUrl");
  await insertSeries(sql, 1, 4);
  await addReader(sql, "agency");
  await addReader(sql, "another", "k2");
  const reader = database.connect("residentUrl");
  const { after } = await readStep(reader, { after: "start" }, 2);
  const last = await readStep(reader, { after: after ?? "" }, 2);
  return { sql, reader, after: after ?? "", changed_since: last.changed_since ?? "" };
};

const refusalOf = (reader: postgres.Sql, cursor: Cursor, partner?: string) =>
  readStep(reader, cursor, 2, partner).then(
    () => undefined,
    ({ code }: { code: string }) => code,
  );

test("a cursor with any character changed, added or removed is rejected", async () => {
  const { reader, after } = await prepare();
  for (let i = 0; i < after.length; i++)
    for (const shift of [1, 32]) {
      const other = alphabet[(alphabet.indexOf(after[i] ?? "") + shift) % 64];
      const changed = after.slice(0, i) + other + after.slice(i + 1);
      expect([i, await refusalOf(reader, { after: changed })]).toEqual([i, "MI440"]);
    }
  for (const changed of [
    `${after}A`,
    `A${after}`,
    after.slice(1),
    after.slice(0, -1),
    after.slice(0, -4),
    `${after}=`,
    `${after}\n`,
  ])
    expect([changed, await refusalOf(reader, { after: changed })]).toEqual([changed, "MI440"]);
  expect(await refusalOf(reader, { after })).toBeUndefined();
});

test("another text is no cursor", async () => {
  const { reader } = await prepare();
  const texts = [
    "",
    " ",
    "Start",
    "a",
    "ab",
    "abc",
    "nope",
    "abcde",
    "A".repeat(64),
    "A".repeat(1_000),
    "ab==",
    "🂡",
    "%00",
  ];
  for (const text of texts)
    for (const cursor of [{ after: text }, { changed_since: text }])
      expect([text, await refusalOf(reader, cursor)]).toEqual([text, "MI440"]);
});

test("a cursor serves its own partner and field alone", async () => {
  const { reader, after, changed_since } = await prepare();
  await readStep(reader, { after: "start" }, 2, "another");
  for (const partner of ["another", "unknown"])
    for (const cursor of [{ after }, { changed_since }])
      expect(await refusalOf(reader, cursor, partner)).toBe("MI440");
  expect(await refusalOf(reader, { after: changed_since })).toBe("MI440");
  expect(await refusalOf(reader, { changed_since: after })).toBe("MI440");
  expect(await refusalOf(reader, { changed_since: "start" })).toBe("MI440");
  await expect(
    reader`select resident.list(1, 2, 'agency', 'k', 'r', null, null, null, ${after}, ${changed_since})`,
  ).rejects.toMatchObject({ code: "22023" });
});

test("the ids of two partners have none in common, and a cursor contains none of the database", async () => {
  const { reader } = await prepare();
  const [ours, theirs] = [
    await readStep(reader, { after: "start" }, 4),
    await readStep(reader, { after: "start" }, 4, "another", "k2"),
  ];
  expect(ours.residents).toEqual(theirs.residents);
  expect(new Set([...ours.ids, ...theirs.ids]).size).toBe(8);
  const [again, once] = [
    await readStep(reader, { after: "start" }, 1),
    await readStep(reader, { after: "start" }, 1),
  ];
  expect(again.after).not.toBe(once.after);
  expect(Buffer.from(again.after ?? "", "base64url").toString("latin1")).not.toContain("walk");
});

const restores: [string, string][] = [
  // what the lost hours have written is not there
  ["to a time before its page", "delete from audit.resident_read"],
  // another transaction writes the rows again
  [
    "of a dump",
    "create table dump as table audit.resident_read; delete from audit.resident_read; insert into audit.resident_read table dump",
  ],
];
test.each(restores)("a cursor has ended after a restore %s", async (_, restore) => {
  const { sql, reader, after, changed_since } = await prepare();
  await sql.unsafe(restore);
  for (const cursor of [{ after }, { changed_since }]) expect(await refusalOf(reader, cursor)).toBe("MI441");
  expect(await refusalOf(reader, { after: "start" })).toBeUndefined();
});

test("a cursor has ended after a restore, when another read has the ids that its page had", async () => {
  const { sql, reader, after } = await prepare();
  const [lost] = await sql<{ code: string }[]>`
    with keys as (select w from resident.walker w where partner_id = 'agency'),
    place as (select (resident.open_cursor(${after}, (select w from keys))).*)
    select resident.seal_cursor(
      row(kind, number, past_change, past_id, until_change, until, since, read_id, read_in,
        read_at + interval '1 microsecond'), (select w from keys)) as code
    from place`;
  expect(await refusalOf(reader, { after: lost?.code ?? "" })).toBe("MI441");
});

test("a cursor whose changes or walk began more than 90 days ago has ended", async () => {
  const { sql, reader, after, changed_since } = await prepare();
  const keys = "(select w from resident.walker w where partner_id = 'agency')";
  /** The same cursor of another day. */
  const age = async (code: string, days: number) => {
    const [row] = await sql.unsafe<{ code: string }[]>(
      `with place as (select (resident.open_cursor($1, ${keys})).*)
      select resident.seal_cursor(row(kind, number, past_change, past_id, until_change,
        until - $2::integer * interval '1 day', since - $2::integer * interval '1 day', read_id, read_in, read_at), ${keys}) as code
      from place`,
      [code, days],
    );
    return row?.code ?? "";
  };
  await sql`update resident.resident set name = 'LAIN'`;
  const changes = await readStep(reader, { changed_since }, 1);
  for (const [days, refusal] of [
    [89, undefined],
    [91, "MI441"],
  ] as const) {
    expect(await refusalOf(reader, { after: await age(after, days) })).toBe(refusal);
    expect(await refusalOf(reader, { changed_since: await age(changed_since, days) })).toBe(refusal);
    if (changes.after)
      expect(await refusalOf(reader, { after: await age(changes.after, days) })).toBe(refusal);
  }
});
