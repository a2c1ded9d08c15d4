import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { authorizers, routes } from "#lib/routes/index.ts";
import { internalFunctions, messengerSecrets } from "#lib/routes/internal.ts";
import { mintedSecrets, secretTable } from "#lib/secrets/table/table.ts";

const random = mintedSecrets.filter((name) => !["messenger-console", "messenger-channels"].includes(name));

test.each(random)("values minted for %s match its schema and differ", (name) => {
  const { schema, mint } = secretTable[name];
  const [first, second] = [mint(), mint()];
  expect(schema().safeParse(first).success).toBe(true);
  expect(JSON.stringify(first)).not.toBe(JSON.stringify(second));
});

test("the console begins without operators: there is no shared password", () => {
  const { schema, mint } = secretTable["messenger-console"];
  expect(schema().parse(mint())).toEqual({ users: [] });
});

test("there are no channels by request until an operator enters them", () => {
  const { schema, mint } = secretTable["messenger-channels"];
  expect(schema().parse(mint())).toEqual({ accounts: {} });
});

test("every secret has a reader: a function, the messenger, the migration or an operator's command", () => {
  const rows = [...routes, ...authorizers, ...internalFunctions].map(({ secrets }) => secrets);
  const commands = globSync("infra/cli/**/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:withConnection|withDirectoryOf)\(\s*"([\w-]+)"/g)].map(
      ([, role]) => role,
    ),
  );
  const read = [
    ...[...rows, messengerSecrets].flatMap((secrets) => Object.values(secrets)),
    ...commands.map((role) => `database/${role}`),
    "database/admin", // the migration
  ];
  expect([...new Set(read)].toSorted()).toEqual(Object.keys(secretTable).toSorted());
});
