import { expect, inject, test } from "vitest";
import { callCommand } from "../steps/command.ts";
import { connectFor } from "../steps/connections.ts";

const account = (...args: string[]) =>
  callCommand(
    () => import("../../infra/cli/account.ts"),
    { DATABASE_URL: inject("city").senderAdminUrl },
    ...args,
  );
const newName = () => `office-${Math.random().toString(36).slice(2, 8)}`;
const json = async (...args: string[]) => JSON.parse((await account(...args, "--json")).out);

test("an added account stands in the list until its number is linked", async () => {
  const name = newName();
  const added = await account("add", name, "--department", "Dinas Contoh", "--pool", "unused", "--spare");
  expect(added.out).toMatch(/Link its number in the console: choose the account there/);
  const found = (await json("list")).accounts.filter((one: { name: string }) => one.name === name);
  expect(found).toMatchObject([
    { pool: "unused", department: "Dinas Contoh", state: "spare", number: null, waiting: 0 },
  ]);
  expect(await account("add", name)).toMatchObject({ status: 1, errors: expect.stringContaining("exists") });
  await account("change", name, "--state", "retired");
});

test("an account is changed, and only in what is given", async () => {
  const name = newName();
  await account("add", name, "--pool", "unused");
  expect(await json("change", name, "--state", "retired")).toMatchObject({
    pool: "unused",
    state: "retired",
  });
  expect(await account("change", newName(), "--state", "spare")).toMatchObject({
    status: 1,
    errors: expect.stringContaining("npm run city -- account list"),
  });
});

test("the list counts the messages that wait for an account", async () => {
  const name = newName();
  await account("add", name, "--pool", "unused");
  await account("change", name, "--state", "retired");
  const sql = connectFor("adminUrl");
  const id = `W${name}`;
  // for later: the running messenger takes back what is due
  await sql`
    insert into messaging.message (id, sender, kind, phone, content, not_before, held_until, expires_at, account)
    select ${id}, 'api:test', 'text', '6281200000001', '{}', at, at, at, id
    from messaging.account cross join (select now() + interval '1 hour' as at) later where name = ${name}`;
  try {
    const found = (await json("list")).accounts.find((one: { name: string }) => one.name === name);
    expect(found).toMatchObject({ waiting: 1 });
  } finally {
    await sql`delete from messaging.message where id = ${id}`;
  }
});

test("the last account of a pool with senders neither leaves it nor retires", async () => {
  const [name, next] = [newName(), newName()];
  const sql = connectFor("adminUrl");
  await account("add", name, "--pool", name);
  await sql`insert into messaging.sender (name, pool) values (${name}, ${name})`;
  const last = { status: 1, errors: expect.stringContaining("last account of its pool") };
  try {
    expect(await account("change", name, "--state", "retired")).toMatchObject(last);
    expect(await account("change", name, "--pool", "unused")).toMatchObject(last);
    expect(await account("change", name, "--pool", name, "--state", "spare")).toMatchObject({ status: 0 });
    await account("add", next, "--pool", name);
    expect(await json("change", name, "--state", "retired")).toMatchObject({ state: "retired" });
  } finally {
    await sql`delete from messaging.sender where name = ${name}`;
    await account("change", next, "--state", "retired");
  }
});

test.each([
  [["add", "Kantor Satu"], "lower-case letters, digits and dashes"],
  [["add", "x".repeat(41)], "1 to 40"],
  [["add", "x'; drop table messaging.account; --"], "lower-case letters, digits and dashes"],
  [["add", "office", "--pool", "Kota Lama"], "POOL must be"],
  [["add", "office", "--department", " "], "--department must be 1 to 100 characters"],
  [["add", "office", "--department", "x".repeat(101)], "--department must be 1 to 100 characters"],
  [["change", "main", "--state", "nonsense"], "Unknown state: nonsense. Use active, spare, retired."],
  [["change", "main"], "Give at least one of --department, --pool and --state"],
])("rejects %j and says what to do", async (args, message) => {
  expect(await account(...args)).toMatchObject({ status: 2, errors: expect.stringContaining(message) });
});
