import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { logSettings, requireLogSettings } from "#lib/db/deployment.ts";
import { Batch } from "#lib/import/batch.ts";
import { copyRows } from "#lib/import/load.ts";
import { choosePlace } from "../../infra/local/postgres/installation.ts";
import { destroyServer, startServer } from "../../infra/local/postgres/server.ts";

const planted = "3578011207851234";

/** A server that writes its log to a file. */
const startLogging = async (settings: Readonly<Record<string, string>>) => {
  const folder = join(mkdtempSync(join(tmpdir(), "server-log-")), "data");
  const prepared = await startServer({ folder, superuserPassword: "x", durable: false });
  await prepared.stop();
  const { programs, data, account } = choosePlace(folder);
  const { port } = prepared;
  const address = { port: String(port), listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const options = Object.entries({ ...address, logging_collector: "on", ...settings });
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    { ...account, cwd: "/", stdio: "ignore" },
  );
  const sql = postgres({ host: "127.0.0.1", port, username: "postgres", password: "x", max: 1 });
  onTestFinished(async () => {
    await sql.end();
    const exited = once(server, "exit");
    server.kill("SIGINT");
    await exited;
    await destroyServer(folder);
  });
  const connected = () =>
    sql`select`.then(
      () => true,
      () => false,
    );
  await expect.poll(connected).toBe(true);
  const log = join(data, "log");
  return {
    sql,
    readLog: () =>
      readdirSync(log)
        .map((file) => readFileSync(join(log, file), "utf8"))
        .join("\n"),
  };
};

/** Fails an import as a row does that violates a check, and a statement with the row in its text. */
const failImport = async (sql: postgres.Sql) => {
  await sql`create table if not exists resident (nik text check (nik ~ '^[0-9]{4}$'))`;
  await sql`begin`;
  const rows = Batch.of([{ values: [planted] }]);
  await expect(copyRows(sql, "resident", rows)).rejects.toThrow();
  await sql`rollback`;
  await sql.unsafe(`insert into resident values ('${planted}')`).catch(() => {});
  await sql`insert into resident values (${planted})`.catch(() => {});
};

test("a record whose import fails is not in the server's log, as it would be by default", async () => {
  const quiet = await startLogging(logSettings);
  await failImport(quiet.sql);
  await expect.poll(quiet.readLog).toContain("violates check constraint");
  expect(quiet.readLog()).not.toContain(planted);
  const talkative = await startLogging({});
  await failImport(talkative.sql);
  await expect.poll(talkative.readLog).toContain(planted);
});

test("a migration requires every one of the settings", async () => {
  const { sql } = await startLogging(logSettings);
  await requireLogSettings(sql);
  for (const [name, value] of [
    ["log_error_verbosity", "default"],
    ["log_min_error_statement", "error"],
    ["log_parameter_max_length", "-1"],
    ["log_parameter_max_length_on_error", "-1"],
  ] as const) {
    await sql.unsafe(`set ${name} = '${value}'`);
    await expect(requireLogSettings(sql)).rejects.toThrow(`${name} = ${logSettings[name]}`);
    await sql.unsafe(`reset ${name}`);
  }
});
