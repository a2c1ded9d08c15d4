import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { nouns } from "../../infra/cli/city.ts";
import { startCommand } from "../steps/command.ts";
import { residentHeader } from "../steps/residents/resident-csv.ts";

const city = inject("city");
const folder = mkdtempSync(join(tmpdir(), "commands-"));
writeFileSync(join(folder, "data.csv"), `${residentHeader}\n1\n`);
afterAll(() => rmSync(folder, { recursive: true }));

/** One harmless call of each command in a new process: arguments, settings, exit code, output. */
const calls: Readonly<Record<string, readonly [string, Record<string, string>, number, RegExp]>> = {
  import: [
    `residents ${folder}/data.csv`,
    { DATABASE_URL: city.importerUrl },
    3,
    /^1 rejected; the rows are in /m,
  ],
  migrate: ["--json", { DATABASE_URL: city.adminUrl }, 0, /^\{\s*"ran": \[\]/],
  seed: ["--residents x", {}, 2, /^--residents must be a whole number/],
  partner: ["list", { DATABASE_URL: city.partnerAdminUrl }, 0, /^partner +plan +key/],
  sender: ["list", { DATABASE_URL: city.senderAdminUrl }, 0, /^sender +pool +classes +countries +per day/],
  account: ["list", { DATABASE_URL: city.senderAdminUrl }, 0, /^account +channel +pool +department/],
  callback: ["add tax-office http://backend.city.example", {}, 2, /^URL must be an https address/],
  console: ["open --port 0", {}, 2, /^--port must be a whole number/],
  audit: ["verify --stage test --bucket none", {}, 2, /^Give either --stage or --bucket/],
  preflight: ["--region ap-southeast-3", {}, 2, /^Add --stage NAME/],
  residents: ["status", { DATABASE_URL: city.maintenanceUrl }, 0, /^Residents: \d+ in \d+ blocks/],
  status: ["--json", { DATABASE_URL: "postgres://127.0.0.1:1/none" }, 1, /The database cannot be reached/],
  subject: ["erase 9971010101010001 --by x --reason y", {}, 2, /^Without a terminal, the command cannot ask/],
  sessions: ["list", { DATABASE_URL: city.employeeAdminUrl }, 0, /^account +session/],
  notify: ["jobs", {}, 0, /^job +schedule/],
  operators: ["add x --role boss", {}, 2, /Allowed choices are viewer, operator, admin/],
  "token-key": ["new", {}, 0, /^\{"kty":"oct"/],
  "dead-letters": ["list --stage test", {}, 1, /no AWS region is set/],
};

test("each noun is tested", () =>
  expect(Object.keys(calls).toSorted()).toEqual(Object.keys(nouns).toSorted()));

test.concurrent.each(Object.entries(calls))(
  "%s starts, prints and ends with its exit code",
  async (name, call) => {
    const [args, settings, status, printed] = call;
    const ended = await startCommand(name, settings, ...args.split(" ")).ended;
    expect(ended).toMatchObject({
      status,
      [status === 1 || status === 2 ? "errors" : "out"]: expect.stringMatching(printed),
    });
  },
);

describe("the Node of the scripts", () => {
  const start = (file: string, ...preload: string[]) =>
    spawnSync(process.execPath, [...preload.flatMap((one) => ["-r", one]), file], { encoding: "utf8" });

  test("is checked by each script that starts a program", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
      scripts: Record<string, string>;
    };
    const programs = Object.values(scripts).filter((script) => script.includes(".ts"));
    expect(programs.length).toBeGreaterThan(8);
    expect(programs.filter((script) => !script.includes("node -r ./infra/node.cjs "))).toEqual([]);
  });

  test("missing after npm ci --ignore-scripts is one sentence that says what to do", () => {
    mkdirSync(join(folder, "infra"));
    copyFileSync("infra/node.cjs", join(folder, "infra/node.cjs"));
    const { status, stderr } = start(join(folder, "infra/node.cjs"));
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^[^\n]+ run npm ci, without --ignore-scripts\.\n$/),
    ]);
  });

  test("that is too old is one sentence", () => {
    writeFileSync(
      join(folder, "old.cjs"),
      'Object.defineProperty(process.versions, "node", { value: "20.20.2" })',
    );
    const { status, stderr } = start("infra/node.cjs", join(folder, "old.cjs"));
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Node 20\.20\.2 is too old: [^\n]+\n$/)]);
    expect(start("infra/node.cjs").status).toBe(0);
  });
});
