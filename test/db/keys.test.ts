import { expect, test } from "vitest";
import { connectFor } from "../steps/connections.ts";

test("every table has a key, so that a publication can identify changed rows", async () => {
  const tables = await connectFor("adminUrl")<{ name: string; keyed: boolean }[]>`
    select c.oid::regclass::text as name, relreplident = 'f' or exists (
      select from pg_index i where i.indrelid = c.oid
        and case relreplident when 'd' then i.indisprimary else i.indisreplident end) as keyed
    from pg_class c where relkind in ('r', 'p') and relpersistence = 'p'
      and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;
  expect(tables.length).toBeGreaterThan(25);
  expect(tables.filter(({ keyed }) => !keyed)).toEqual([]);
});
