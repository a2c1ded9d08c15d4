import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { contract } from "../../contract/contract.ts";
import type { Need } from "../../contract/system.ts";
import { startAnswerProxy } from "../../steps/answer-proxy.ts";
import { useDeliveringCity } from "../../steps/city/delivering-city.ts";
import { withCityDatabase } from "../../steps/city/own-city.ts";
import { callCommand, startProgram } from "../../steps/command.ts";
import { serve, startDeafServer } from "../../steps/http-server.ts";
import { wrongAnswers } from "./wrong-answers.ts";

/** The number of cases that need one of these. */
const casesWith = (...needs: readonly Need[]): number =>
  contract.flatMap(({ cases }) => cases).filter((one) => one.needs.some((need) => needs.includes(need)))
    .length;

/** Each sends some hundred requests. */
vi.setConfig({ testTimeout: 60_000 });

const delivering = useDeliveringCity();
const { own } = delivering;
const withDatabase = withCityDatabase(own);

const credentials = () => {
  const { apiKey, basic, upstreams } = own.city;
  return { apiKey, basic, employee: upstreams.demo };
};

interface Addresses {
  readonly baseUrl: string;
  readonly messagingBaseUrl: string;
}

/** Runs the command with the addresses as options and the credentials in its environment. */
const smoke = (
  { baseUrl, messagingBaseUrl }: Addresses,
  args: readonly string[] = [],
  given: object | string = credentials(),
) =>
  callCommand(
    () => import("./smoke.ts"),
    { SMOKE_CREDENTIALS: typeof given === "string" ? given : JSON.stringify(given) },
    ...["--base-url", baseUrl, "--messaging-base-url", messagingBaseUrl, ...args],
  );

interface Listed {
  name: string;
  outcome: string;
  reason?: string;
  failure?: { expected: string; received: string; requestId?: string; fix: string };
}
const listed = (out: string): Listed[] => JSON.parse(out).cases;
const failures = (out: string) => listed(out).filter(({ outcome }) => outcome === "failed");

/** The rows of each table that a request may write to; the messenger writes its own keys. */
const countRows = () =>
  withDatabase(async (sql) => {
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'auth_key'
        and tablename !~ '^resident_read_[0-9]'`;
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await sql.unsafe<{ count: number }[]>(`select count(*)::int from ${name}`);
      counts[name] = row?.count ?? 0;
    }
    return counts;
  });

test("passes a working stage behind base paths and changes only what reading residents does there", async () => {
  const addresses = await startAnswerProxy(own.city);
  const before = await countRows();
  const { status, out, errors } = await smoke(addresses);
  expect([status, errors]).toEqual([0, ""]);
  expect(out).toMatch(new RegExp(`\\d+ passed, 0 failed, ${casesWith("account", "phone")} skipped`));
  expect(out).toMatch(/✓ lists newest first, across pages +\d+ ms/);
  expect(out).toMatch(/– answers 404 to an unknown ticket +skipped\n/);
  expect(out).toMatch(/Skipped\n +8 needs --login, with employee\.username .*\n +2 needs --send-to PHONE/);
  const after = await countRows();
  expect(after["audit.resident_read"]).toBeGreaterThan(before["audit.resident_read"] ?? 0);
  // and the messenger stores the limits of its account
  const reading = {
    ...{ "audit.resident_read": 0, "resident.read_count": 0, "resident.failed_verification": 0 },
    "messaging.number": 0,
  };
  expect({ ...after, ...reading }).toEqual({ ...before, ...reading });
});

test("logs in once with --login and sends one text with --send-to", async () => {
  const phone = "6281255500001";
  const { status, out } = await smoke(own.city, ["--login", "--send-to", phone, "--json"]);
  expect([status, listed(out).filter(({ outcome }) => outcome !== "passed")]).toEqual([0, []]);
  expect(delivering.platform.phone(phone)?.inbox).toHaveLength(1);
  const counts = await countRows();
  expect([counts["messaging.message"], counts["employee.session"]]).toEqual([2, 1]);
});

test("runs the public cases without credentials, and says what the skipped ones need", async () => {
  const { status, out } = await smoke(own.city, ["--json"], {});
  expect(status).toBe(0);
  const needing = (words: string) => listed(out).filter(({ reason }) => reason?.includes(words)).length;
  expect(needing("apiKey in the credentials")).toBeGreaterThan(15);
  expect(needing("basic.username and basic.password")).toBeGreaterThan(8);
  expect(listed(out).filter(({ outcome }) => outcome === "passed").length).toBeGreaterThan(15);
});

test.each(wrongAnswers)("reports %s and nothing else", async (_, change, names, received) => {
  const { status, out } = await smoke(await startAnswerProxy(own.city, change), ["--json"]);
  const failed = failures(out);
  expect(failed.map(({ name }) => name)).toEqual(names.map((name) => expect.stringMatching(name)));
  expect([status, failed[0]?.failure?.received]).toEqual([3, received]);
  expect(failed[0]?.failure).toMatchObject({
    expected: expect.stringMatching(/./),
    fix: expect.stringMatching(/./),
  });
  expect(out).not.toContain("MERDEKA");
});

test("reads addresses and credentials from a file like .local/dev.json and ignores its other fields", async () => {
  const folder = mkdtempSync(join(tmpdir(), "smoke-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { baseUrl, messagingBaseUrl, secretsUrl } = own.city;
  const contents = { baseUrl, messagingBaseUrl, secretsUrl, platformUrl: null, ...credentials() };
  writeFileSync(`${folder}/dev.json`, JSON.stringify(contents), { mode: 0o600 });
  const args = ["--credentials", `${folder}/dev.json`, "--json"];
  const { status, out } = await startProgram("test/lab/smoke/smoke.ts", {}, ...args).ended;
  expect([status, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({
      integration: baseUrl,
      messaging: messagingBaseUrl,
      failed: 0,
      skipped: casesWith("account", "phone"),
    }),
  ]);
});

test("reports a failed login once and skips the cases that need its token", async () => {
  const wrong = { ...credentials(), employee: { ...own.city.upstreams.demo, password: "wrong" } };
  const { status, out } = await smoke(own.city, ["--json", "--login"], wrong);
  expect([status, failures(out)]).toEqual([
    3,
    [expect.objectContaining({ name: expect.stringMatching(/^login returns exactly a token/) })],
  ]);
  expect(listed(out).filter(({ reason }) => reason === "the account cannot log in")).toHaveLength(
    casesWith("account") - 1, // the login itself
  );
});

test.each([
  ["API key", { apiKey: "mia_wrong" }, "accepts apiKey in the credentials"],
  ["password", { basic: { username: "x", password: "y" } }, "accepts basic.username and basic.password"],
])("reports a wrong %s once and skips the cases that need it", async (_, wrong, name) => {
  const { status, out } = await smoke(own.city, ["--json"], { ...credentials(), ...wrong });
  expect([status, failures(out)]).toEqual([
    3,
    [
      expect.objectContaining({
        name: expect.stringContaining(name),
        failure: expect.objectContaining({ received: expect.stringMatching(/^401 /) }),
      }),
    ],
  ]);
  expect(listed(out).filter(({ reason }) => reason?.endsWith("rejected above")).length).toBeGreaterThan(8);
});

test("shows the request, the expected and the received answer, the request id and a fix for a failed case", async () => {
  const addresses = await startAnswerProxy(own.city, (passing) => {
    if (passing.path === "/v1/pariwisata/kategori" && passing.status === 200) passing.status = 500;
  });
  const { out } = await smoke(addresses, [], {});
  expect(out).toMatch(
    /✗ lists the categories, .* ms\n +request +GET \/v1\/pariwisata\/kategori.*\n +expected +200\n +received +500 .*\n +request id +[\w-]{36}\n +fix +Search the log/,
  );
});

test("prints no credentials and no personal data", async () => {
  // every answer is wrong, so that each case describes one
  const addresses = await startAnswerProxy(own.city, (passing) => {
    passing.status = passing.status === 200 ? 418 : passing.status;
  });
  const spoiled = await smoke(addresses, ["--login"]);
  const sound = await smoke(own.city, ["--json"]);
  const rows = await withDatabase(
    (sql) => sql<{ name: string; nik: string }[]>`select name, nik from resident.resident`,
  );
  const { apiKey, basic, upstreams } = own.city;
  const { password, passphrase, nip } = upstreams.demo;
  const planted = [apiKey, basic.password, password, passphrase, nip, "PLANTED"];
  const all = `${spoiled.out}${spoiled.errors}${sound.out}${sound.errors}`;
  expect([spoiled.status, sound.status]).toEqual([3, 0]);
  for (const secret of [...planted, ...rows.flatMap(({ name, nik }) => [name, nik])])
    expect(all).not.toContain(secret);
  const broken = await smoke(own.city, [], '{"apiKey": "PLANTED"');
  expect([broken.status, broken.errors]).toEqual([
    2,
    expect.stringContaining("SMOKE_CREDENTIALS is not JSON"),
  ]);
  expect(broken.errors).not.toContain("PLANTED");
});

test("names an address that is not responding", async () => {
  const dead = "http://127.0.0.1:1";
  const refused = await smoke({ baseUrl: dead, messagingBaseUrl: own.city.messagingBaseUrl });
  expect([refused.status, refused.errors]).toEqual([
    1,
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 is not responding \(\w+\)\. Check the address/),
  ]);
  const { messagingBaseUrl } = own.city;
  const deaf = await smoke({ baseUrl: await startDeafServer(), messagingBaseUrl }, ["--timeout", "1"]);
  expect([deaf.status, deaf.errors]).toEqual([
    1,
    expect.stringContaining("is not responding (TimeoutError)"),
  ]);
});

test("fails on a stage that hangs when the time limit is reached", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/") response.writeHead(404).end();
  });
  const hanging = { baseUrl: url, messagingBaseUrl: url };
  const { status, out } = await smoke(hanging, ["--json", "--timeout", "1"]);
  expect([
    status,
    listed(out).every(({ reason }) => reason?.match(/the time limit was reached|^needs /)),
  ]).toEqual([1, true]);
});

test.each<[string[], RegExp]>([
  [["--base-url", "ftp://x"], /--base-url must be an address/],
  [["--base-url", "https://u:p@host/api"], /--base-url must be an address/],
  [["--base-url", "http://api.example"], /must be https, or credentials would be sent unencrypted/],
  [["--send-to", "+62812"], /--send-to must be a number with country code/],
  [["--timeout", "0"], /--timeout must be a whole number from 1 to 9999/],
  [["--credentials", "no-such-file.json"], /no-such-file.json cannot be read \(ENOENT\)/],
  [["--logn"], /Unknown option '--logn'\. Did you mean --login\?/],
])("says what is wrong with the call %j", async (args, message) => {
  const { status, errors } = await smoke(own.city, args);
  expect([status, errors]).toEqual([2, expect.stringMatching(message)]);
});
