import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as esbuild from "esbuild";
import { expect, inject, onTestFinished, test } from "vitest";
import { correctLibraries } from "../../infra/build/corrections.ts";

/** Loses the connection of a transaction that goes on, then uses the pool. */
const program = `
  import { once } from "node:events";
  import { connect, createServer } from "node:net";
  import postgres from "postgres";
  const url = new URL(process.argv[2]);
  const port = Number(url.port);
  let last;
  const proxy = createServer((near) => {
    last = near.on("error", () => {});
    near.pipe(connect(port, url.hostname).on("error", () => {})).pipe(near);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  url.port = proxy.address().port;
  const closed = Promise.withResolvers();
  const sql = postgres(url.href, { max: 1, fetch_types: false, onclose: () => closed.resolve() });
  const afterwards = Promise.withResolvers();
  const code = await sql.begin(async (transaction) => {
    last.destroy();
    await closed.promise;
    afterwards.resolve(await transaction.unsafe(process.argv[3], ["a"], { prepare: true }).catch((error) => error.code));
  }).catch((error) => error.code);
  const [{ one }] = await sql\`select 1 as one\`;
  console.log(code, await afterwards.promise, one);
  process.exit();`;

/** Loses all connections at once, and repeats a query on the next of them before that has closed too. */
const repeating = `
  import { once } from "node:events";
  import { connect, createServer } from "node:net";
  import postgres from "postgres";
  const url = new URL(process.argv[2]);
  const port = Number(url.port);
  const nears = [];
  const proxy = createServer((near) => {
    nears.push(near.on("error", () => {}));
    near.pipe(connect(port, url.hostname).on("error", () => {})).pipe(near);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  url.port = proxy.address().port;
  const sql = postgres(url.href, { max: 2, fetch_types: false, connect_timeout: 5, backoff: () => 0 });
  const ask = () => sql\`select 1\`.then(() => "ok", (error) => error.code);
  await Promise.all([ask(), ask()]);
  const repeated = sql\`select pg_sleep(9)\`.catch(ask);
  await ask();
  for (const near of nears) near.destroy();
  console.log(await repeated, ...(await Promise.all([ask(), ask()])));
  process.exit();`;

/** Ends the connection of a query, as a server that shuts down does, and queries on the next one. */
const ended = `
  import postgres from "postgres";
  const sql = postgres(process.argv[2], { max: 1, fetch_types: false });
  const ask = (query) => query.then(() => "ok", (error) => error.code);
  console.log(await ask(sql\`select pg_terminate_backend(pg_backend_pid())\`), await ask(sql\`select 1\`));
  process.exit();`;

/** Cancels a query when the server accepts no more connections. */
const cancelling = `
  import { once } from "node:events";
  import { connect, createServer } from "node:net";
  import { setTimeout } from "node:timers/promises";
  import postgres from "postgres";
  const url = new URL(process.argv[2]);
  const port = Number(url.port);
  let isOpen = true;
  const proxy = createServer((near) => {
    near.on("error", () => {});
    if (!isOpen) return near.resetAndDestroy();
    near.pipe(connect(port, url.hostname).on("error", () => {})).pipe(near);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  url.port = proxy.address().port;
  const sql = postgres(url.href, { max: 1, fetch_types: false });
  const slow = sql\`select pg_sleep(9)\`;
  slow.catch(() => {});
  // until the server has it: before, cancelling opens no connection
  while (!slow.active) await setTimeout(10);
  isOpen = false;
  slow.cancel();
  const { promise, resolve } = Promise.withResolvers();
  proxy.once("connection", (near) => near.once("close", resolve));
  await promise;
  await setTimeout(50);
  console.log("goes on");
  process.exit();`;

const runBundled = async (contents: string, ...args: string[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { outputFiles } = await esbuild.build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
    plugins: [correctLibraries],
  });
  const file = join(folder, "program.mjs");
  writeFileSync(file, outputFiles[0]?.contents ?? "");
  const call = [file, inject("city").residentUrl, ...args];
  return (await promisify(execFile)(process.execPath, call, { timeout: 60_000 })).stdout;
};

test.each([
  ["short", "select $1::text"],
  // postgres.js sends 1 KiB at once
  ["long", `select $1::text --${"-".repeat(1_024)}`],
])("a %s query on a closed connection is rejected, and the process of a bundle goes on", async (_, query) => {
  expect(await runBundled(program, query)).toBe("CONNECTION_CLOSED CONNECTION_CLOSED 1\n");
});

test("a connection that closed before its next write can be opened again", async () => {
  expect(await runBundled(repeating)).toBe("CONNECTION_CLOSED ok ok\n");
});

test("a query fails once whose connection the server ends, and the next one is served", async () => {
  expect(await runBundled(ended)).toBe("CONNECTION_CLOSED ok\n");
});

test("the process of a bundle goes on when a query cannot be cancelled because the server is gone", async () => {
  expect(await runBundled(cancelling)).toBe("goes on\n");
});
