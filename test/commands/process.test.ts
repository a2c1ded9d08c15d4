import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
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
    2,
    /^1 rejected; reasons are in /m,
  ],
  seed: ["--residents x", {}, 1, /^--residents must be a whole number/],
  partner: ["list", { DATABASE_URL: city.partnerAdminUrl }, 0, /^partner +plan +key/],
  audit: ["verify --stage test --log none", {}, 1, /^Give either --stage or --log/],
  residents: ["status", { DATABASE_URL: city.maintenanceUrl }, 0, /^Residents: \d+ in \d+ blocks/],
  sessions: ["list", { DATABASE_URL: city.employeeAdminUrl }, 0, /^account +session/],
  notify: ["jobs", {}, 0, /^job +schedule/],
  operators: ["add x --role boss", {}, 1, /^--role must be viewer/],
  "token-key": ["new", {}, 0, /^\{"kty":"oct"/],
  "dead-letters": ["list --stage test", {}, 1, /no AWS region is set/],
};

test("each command of package.json is tested", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const files = Object.values(scripts).flatMap(
    (script) => /^node infra\/commands\/(.+)\.ts$/.exec(script)?.[1] ?? [],
  );
  // `cost` writes into the guides
  expect(files.filter((file) => file !== "cost").toSorted()).toEqual(Object.keys(calls).toSorted());
});

test.concurrent.each(Object.entries(calls))(
  "%s starts, prints and ends with its exit code",
  async (name, call) => {
    const [args, settings, status, printed] = call;
    const ended = await startCommand(`infra/commands/${name}.ts`, settings, ...args.split(" ")).ended;
    expect(ended).toMatchObject({
      status,
      [status === 1 ? "errors" : "out"]: expect.stringMatching(printed),
    });
  },
);
