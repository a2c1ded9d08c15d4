import { expect, inject, onTestFinished, test, vi } from "vitest";
import { connectFor } from "../steps/connections.ts";

/** Blocks this thread, so that it sees no event of its connection, as in a frozen Lambda environment. */
const freeze = (milliseconds: number) =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** The functions' own connection, in this process. */
const load = async () => {
  vi.resetModules();
  for (const [name, value] of Object.entries(inject("city").variables["resident/list"] ?? {}))
    vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return (await import("#lib/db/database.ts")).withDatabase;
};

test("the first request of an environment whose connection the server ended while it was frozen is served", async () => {
  const withDatabase = await load();
  const findProcess = () =>
    withDatabase(async (sql) => {
      const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
      return row?.pid;
    });
  const first = await findProcess();
  await withDatabase((sql) => sql`set idle_session_timeout = '100ms'`);
  freeze(1_000);
  const next = await findProcess();
  expect(next).not.toBe(first);
  const [left] = await connectFor("adminUrl")`select from pg_stat_activity where pid = ${first ?? 0}`;
  expect(left).toBeUndefined();
});

test.each(["25006", "57P01", "57P02", "57P03", "08000", "08006", "ENOTFOUND", "ECONNREFUSED"])(
  "a request is served whose first attempt fails with %s",
  async (code) => {
    const withDatabase = await load();
    const fail = () => Promise.reject(Object.assign(new Error("wrong server"), { code }));
    const work = vi.fn().mockImplementationOnce(fail).mockResolvedValue("served");
    expect(await withDatabase(work)).toBe("served");
  },
);
