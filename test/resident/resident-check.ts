import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { expect } from "vitest";
import type { Random } from "../steps/random.ts";
import { addReader } from "../steps/residents/reader.ts";
import { oddTerm } from "./odd-names.ts";

interface Stored {
  /** The NIK, which tests also store in this column that is shown. */
  readonly hamlet: string;
  readonly nik: string;
  readonly name: string;
  readonly search: string;
}

interface Page {
  readonly total: number;
  readonly residents: readonly { readonly hamlet: string }[];
}

const digest = Buffer.alloc(32);

/**
 * Compares pages of list and search with all rows as they are in the same snapshot, read one by one.
 *
 * @param checks pages of the list and as many of searches, at random; besides them a whole result set.
 * @returns how many pages were compared.
 */
export const checkPages = async (sql: postgres.Sql, random: Random, checks: number): Promise<number> => {
  let compared = 0;
  // counts of its own, which no other snapshot changes
  const partner = randomUUID();
  await addReader(sql, partner, partner);
  await sql.begin("isolation level repeatable read", async (snapshot) => {
    const all = await snapshot<Stored[]>`
      select hamlet, nik, name, name_search as search from resident.resident order by created_at desc, id desc`;
    const names = all.map(({ name }) => name);
    const compare = async (
      expected: readonly Stored[],
      number: number,
      size: number,
      query: PromiseLike<Page[]>,
    ) => {
      const [page] = await query;
      const slice = expected.slice((number - 1) * size, number * size);
      compared += 1;
      expect([Number(page?.total), page?.residents.map(({ hamlet }) => hamlet)]).toEqual([
        expected.length,
        slice.map(({ hamlet }) => hamlet),
      ]);
    };
    const list = (number: number, size: number) =>
      compare(
        all,
        number,
        size,
        snapshot<Page[]>`select * from resident.list(${number}, ${size}, ${partner}, ${partner}, 'r')`,
      );
    const search = async (term: string) => {
      const [folded] = await snapshot<{ term: string }[]>`
        select resident.fold_name(${term}) as term`;
      const found = all.filter((row) => folded?.term && row.search.includes(folded.term));
      const ask = (number: number, size: number) =>
        compare(
          found,
          number,
          size,
          snapshot<Page[]>`select * from resident.search(
          null, ${term}, ${number}, ${size}, ${partner}, ${partner}, 'r', null, ${digest}, 1)`,
        );
      return { pages: Math.ceil(found.length / 100), ask };
    };
    const pages = (count: number, size: number) => 1 + random.below(Math.ceil(count / size) + 1);
    for (let i = 0; i < checks; i++) {
      const size = 1 + random.below(100);
      await list(pages(all.length, size), size);
      const { ask } = await search(oddTerm(random, names));
      await ask(pages(all.length / 3, size), size);
    }
    for (let number = 1; number <= all.length / 100 + 1; number++) await list(number, 100);
    const whole = await search(random.pick(["a", "si", "siti", "nur", "😀", "%"]));
    for (let number = 1; number <= whole.pages + 1; number++) await whole.ask(number, 100);
  });
  return compared;
};
