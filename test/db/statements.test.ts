import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { splitStatements } from "#lib/db/index-build.ts";

test.each([
  ["select 1; select 2", ["select 1", "select 2"]],
  ["-- a; b\nselect 1 /* c; d */ + 1;;", ["select 1   + 1"]],
  [
    "select ';--', 'it''s;', e'\\';', \"a;b\"; select 2;",
    ["select ';--', 'it''s;', e'\\';', \"a;b\"", "select 2"],
  ],
  ["do $$ begin; end $$; do $of$ $$;$$ $of$;", ["do $$ begin; end $$", "do $of$ $$;$$ $of$"]],
  [
    "create function f() begin atomic select case when true then 1 end; select 2; end; select $1;",
    ["create function f() begin atomic select case when true then 1 end; select 2; end", "select $1"],
  ],
])("%s has the statements %j", (sql, statements) => expect(splitStatements(sql)).toEqual(statements));

test("each statement of the product's SQL begins with a verb", () => {
  const verbs = /^(alter|create|do|grant|insert|reset|revoke|select|set|update|comment|drop|truncate)\s/i;
  for (const file of globSync("lib/db/{migrations,functions/*}/*.sql"))
    for (const statement of splitStatements(readFileSync(file, "utf8")))
      expect([file, statement.slice(0, 60)]).toEqual([file, expect.stringMatching(verbs)]);
});
