import type postgres from "postgres";
import { list, searchByName } from "./resident-reads.ts";
import { measureOf } from "./result.ts";
import { percentile, timed } from "./timing.ts";

type Read = (sql: postgres.ISql) => PromiseLike<unknown>;

const kinds: Readonly<Record<string, Read>> = {
  "list of 10": (sql) => list(sql, 1_000, 10),
  "list of 100": (sql) => list(sql, 100, 100),
  "search of 10": (sql) => searchByName(sql, "siti", 1),
};

/** As if the audit did not store who was shown. */
const leaveOut = `
  drop index audit.resident_read_shown;
  create or replace function audit.encode_ids(ids bigint[]) returns bytea language sql immutable return ''::bytea`;

const rounds = 20;
const rolledBack = new Error("rolled back");

/** Reads in one transaction, which is rolled back. @returns milliseconds of each, and the bytes of the ids that one stores. */
const readOften = async (
  sql: postgres.Sql,
  read: Read,
  { samples, change = "" }: { samples: number; change?: string },
) => {
  const times: number[] = [];
  let bytes = 0;
  await sql
    .begin(async (transaction) => {
      await transaction.unsafe(change).simple();
      for (let i = 0; i < 10; i++) await read(transaction); // not counted: plans that are made again
      while (times.length < samples) times.push(await timed(() => read(transaction)));
      const [row] = await transaction<{ bytes: number }[]>`
        select octet_length(shown) as bytes from audit.resident_read order by id desc limit 1`;
      bytes = row?.bytes ?? 0;
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  return { times, bytes };
};

/** What it costs a read to store the ids of those whom it showed: with and without, in turn, before the commit. */
export const measureShown = async (sql: postgres.Sql, { samples }: { samples: number }) => {
  const rows = [];
  for (const [name, read] of Object.entries(kinds)) {
    const [bare, stored]: [number[][], number[][]] = [[], []];
    let idBytes = 0;
    while (stored.length < rounds) {
      bare.push((await readOften(sql, read, { samples, change: leaveOut })).times);
      const { times, bytes } = await readOften(sql, read, { samples });
      stored.push(times);
      idBytes = bytes;
    }
    const at = (share: number, all: readonly number[][]) =>
      percentile(
        all.flat().toSorted((a, b) => a - b),
        share,
      );
    const ratioAt = (share: number) =>
      measureOf(stored.map((times, turn) => at(share, [times]) / at(share, [bare[turn] ?? []])));
    const spread = ratioAt(0.5);
    rows.push({
      "who was shown": name,
      "without p50 ms": at(0.5, bare),
      "p50 ms": at(0.5, stored),
      "p50 ratio": spread.median,
      "without p99 ms": at(0.99, bare),
      "p99 ms": at(0.99, stored),
      "bytes of ids": idBytes,
      spread,
    });
  }
  return rows;
};
