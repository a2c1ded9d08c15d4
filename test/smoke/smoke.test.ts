import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Passing, startBentFront } from "../steps/bent-front.ts";
import { withCityDatabase } from "../steps/city-database.ts";
import { callCommand, startCommand } from "../steps/command.ts";
import { useDeliveringCity } from "../steps/delivering-city.ts";
import { serve, startDeafServer } from "../steps/http-server.ts";

/** Each asks some hundred questions. */
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

/** It is given the addresses and, in its environment, the credentials. */
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
  failure?: { expected: string; came: string; requestId?: string; mend: string };
}
const listed = (out: string): Listed[] => JSON.parse(out).cases;
const failures = (out: string) => listed(out).filter(({ outcome }) => outcome === "failed");

/** How many rows each table has that a request may have written: the session task keeps its own keys. */
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

test("a sound stage behind base paths is green, and has after it what it had, but for the audit", async () => {
  const addresses = await startBentFront(own.city);
  const before = await countRows();
  const { status, out, errors } = await smoke(addresses);
  expect([status, errors]).toEqual([0, ""]);
  expect(out).toMatch(/\d+ as the contract has it, 0 otherwise, 9 not asked/);
  expect(out).toMatch(/✓ lists newest first, over pages too +\d+ ms/);
  expect(out).toMatch(/– answers 404 to an unknown ticket +not asked\n/);
  expect(out).toMatch(
    /Not asked\n +8 for want of --login, with employee\.username .*\n +1 for want of --send-to PHONE/,
  );
  const after = await countRows();
  expect(after["audit.resident_read"]).toBeGreaterThan(before["audit.resident_read"] ?? 0);
  expect({ ...after, "audit.resident_read": 0 }).toEqual({ ...before, "audit.resident_read": 0 });
});

test("told to, it logs in once and sends one text to the number that it was given", async () => {
  const phone = "6281255500001";
  const { status, out } = await smoke(own.city, ["--login", "--send-to", phone, "--json"]);
  expect([status, listed(out).filter(({ outcome }) => outcome !== "passed")]).toEqual([0, []]);
  expect(delivering.platform.phone(phone)?.inbox).toHaveLength(1);
  const counts = await countRows();
  expect([counts["messaging.message"], counts["employee.session"]]).toEqual([1, 1]);
});

test("without credentials it asks what anyone may, and says of the rest what it needs", async () => {
  const { status, out } = await smoke(own.city, ["--json"], {});
  expect(status).toBe(0);
  const needing = (words: string) => listed(out).filter(({ reason }) => reason?.includes(words)).length;
  expect(needing("apiKey in the credentials")).toBeGreaterThan(15);
  expect(needing("basic.username and basic.password")).toBeGreaterThan(8);
  expect(listed(out).filter(({ outcome }) => outcome === "passed").length).toBeGreaterThan(15);
});

const edit = (passing: Passing, change: (json: never) => unknown) => {
  passing.body = JSON.stringify(change(JSON.parse(passing.body) as never));
};
const isPage = ({ path, status }: Passing) => path.startsWith("/v1/penduduk") && status === 200;
type Page = { total: unknown; data: Record<string, string>[] };
const eachRow = (passing: Passing, change: (row: Record<string, string>) => object) => {
  if (isPage(passing)) edit(passing, (page: Page) => ({ ...page, data: page.data.map(change) }));
};

test.each<[string, (passing: Passing) => void, RegExp[], string]>([
  [
    "the gateway's own 403 in place of 404",
    (passing) => {
      if (passing.method !== "GET" || passing.path !== "/v1/penduduk") return;
      passing.status = 403;
      passing.body = '{"message":"Missing Authentication Token"}';
    },
    [/^answers 404 in JSON to another method or address without a key/, /with a key/],
    "403 Missing Authentication Token",
  ],
  [
    "a total as text",
    (passing) => {
      if (isPage(passing)) edit(passing, (page: Page) => ({ ...page, total: String(page.total) }));
    },
    [/^gives total and page as JSON integers/],
    "a string",
  ],
  [
    "a column in clear",
    (passing) => eachRow(passing, (row) => ({ ...row, alamat: "JL. MERDEKA 17" })),
    [/^shows exactly the ten fields/],
    "that field",
  ],
  [
    "a mask that shows too much",
    (passing) => eachRow(passing, (row) => ({ ...row, nik_alt: "9999010101******" })),
    [/^shows exactly the ten fields/],
    "text of another form",
  ],
  [
    "times with a zone",
    (passing) => eachRow(passing, (row) => ({ ...row, created_at: `${row.created_at}Z` })),
    [/^shows the city's own time/],
    "text of another form",
  ],
  [
    "a refusal with the wrong status",
    (passing) => {
      if (passing.messaging && passing.body.includes("BAD_BOUNDARY")) passing.status = 400;
    },
    [/^answers 500 in the contract's words/],
    "400 BAD_BOUNDARY: request Content-Type has bad boundary or is not multipart/form-data",
  ],
  [
    "no challenge at the messaging API",
    (passing) => {
      if (passing.messaging) passing.headers.delete("www-authenticate");
    },
    [/^answers 401 and a Basic challenge/],
    "none",
  ],
  [
    "CORS at the messaging API's own answers",
    (passing) => {
      if (passing.messaging && passing.status === 401)
        passing.headers.set("access-control-allow-origin", "*");
    },
    [/^lets no page of another origin read an answer/],
    "«*»",
  ],
  [
    "an envelope around the gallery",
    (passing) => {
      if (passing.body.startsWith("[{")) passing.body = `{"data":${passing.body}}`;
    },
    [/^lists the photos of a destination as a bare array/],
    "a object",
  ],
  [
    "a lost request id",
    (passing) => {
      if (!passing.messaging) passing.headers.delete("x-request-id");
    },
    [/^carries a request id in every answer/],
    "none",
  ],
  [
    "a session task that is away",
    (passing) => {
      if (passing.status !== 404 || !passing.body.includes("MESSAGE_NOT_FOUND")) return;
      passing.status = 503;
      passing.body = '{"status":false,"code":"SESSION_UNAVAILABLE","message":"Away"}';
    },
    [/^knows no message of an id that was never given/],
    "503 SESSION_UNAVAILABLE: Away",
  ],
])("%s is named, and nothing else", async (_, bend, names, came) => {
  const { status, out } = await smoke(await startBentFront(own.city, bend), ["--json"]);
  const failed = failures(out);
  expect(failed.map(({ name }) => name)).toEqual(names.map((name) => expect.stringMatching(name)));
  expect([status, failed[0]?.failure?.came]).toEqual([2, came]);
  expect(failed[0]?.failure).toMatchObject({
    expected: expect.stringMatching(/./),
    mend: expect.stringMatching(/./),
  });
  expect(out).not.toContain("MERDEKA");
});

test("a file of the shape of .local/dev.json gives addresses and credentials, with whatever else stands in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "smoke-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { baseUrl, messagingBaseUrl, secretsUrl } = own.city;
  const contents = { baseUrl, messagingBaseUrl, secretsUrl, platformUrl: null, ...credentials() };
  writeFileSync(`${folder}/dev.json`, JSON.stringify(contents), { mode: 0o600 });
  const args = ["--credentials", `${folder}/dev.json`, "--json"];
  const { status, out } = await startCommand("test/smoke/smoke.ts", {}, ...args).ended;
  expect([status, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({ integration: baseUrl, messaging: messagingBaseUrl, failed: 0, notAsked: 9 }),
  ]);
});

test("a login that fails is one failure, and what needs its token is not asked", async () => {
  const wrong = { ...credentials(), employee: { ...own.city.upstreams.demo, password: "wrong" } };
  const { status, out } = await smoke(own.city, ["--json", "--login"], wrong);
  expect([status, failures(out)]).toEqual([
    2,
    [expect.objectContaining({ name: expect.stringMatching(/^login answers a token/) })],
  ]);
  expect(listed(out).filter(({ reason }) => reason === "the account cannot log in")).toHaveLength(7);
});

test("a failure shows what was asked, expected and came, the request id, and where to look", async () => {
  const addresses = await startBentFront(own.city, (passing) => {
    if (passing.path === "/v1/pariwisata/kategori" && passing.status === 200) passing.status = 500;
  });
  const { out } = await smoke(addresses, [], {});
  expect(out).toMatch(
    /✗ lists the categories, .* ms\n +asked +GET \/v1\/pariwisata\/kategori.*\n +expected +200\n +came +500 .*\n +request +[\w-]{36}\n +mend +see the log/,
  );
});

test("neither a credential nor anybody's data stands in what it prints", async () => {
  // everything is refused as wrong: what comes is described throughout
  const addresses = await startBentFront(own.city, (passing) => {
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
  expect([spoiled.status, sound.status]).toEqual([2, 0]);
  for (const secret of [...planted, ...rows.flatMap(({ name, nik }) => [name, nik])])
    expect(all).not.toContain(secret);
  const broken = await smoke(own.city, [], '{"apiKey": "PLANTED"');
  expect([broken.status, broken.errors]).toEqual([
    1,
    expect.stringContaining("SMOKE_CREDENTIALS is not JSON"),
  ]);
  expect(broken.errors).not.toContain("PLANTED");
});

test("an address where nobody listens, or nobody answers, is said at once", async () => {
  const dead = "http://127.0.0.1:1";
  const refused = await smoke({ baseUrl: dead, messagingBaseUrl: own.city.messagingBaseUrl });
  expect([refused.status, refused.errors]).toEqual([
    1,
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does not answer \(\w+\)\. Is the address right/),
  ]);
  const { messagingBaseUrl } = own.city;
  const deaf = await smoke({ baseUrl: await startDeafServer(), messagingBaseUrl }, ["--timeout", "1"]);
  expect([deaf.status, deaf.errors]).toEqual([1, expect.stringContaining("does not answer (TimeoutError)")]);
});

test("a stage that hangs is given up when the time is up, and that is no success", async () => {
  const url = await serve((request, response) => {
    if (request.url === "/") response.writeHead(404).end();
  });
  const hanging = { baseUrl: url, messagingBaseUrl: url };
  const { status, out } = await smoke(hanging, ["--json", "--timeout", "1"]);
  expect([status, listed(out).every(({ reason }) => reason?.match(/time was up|for want of/))]).toEqual([
    1,
    true,
  ]);
});

test.each<[string[], RegExp]>([
  [["--base-url", "ftp://x"], /--base-url must be an address/],
  [["--base-url", "https://u:p@host/api"], /--base-url must be an address/],
  [["--base-url", "http://api.example"], /must be https: credentials would cross/],
  [["--send-to", "+62812"], /--send-to must be a number with country code/],
  [["--timeout", "0"], /--timeout must be whole seconds/],
  [["--credentials", "no-such-file.json"], /no-such-file.json cannot be read \(ENOENT\)/],
  [["--fast"], /Unknown option '--fast'/],
])("mends a wrong call %j by its message", async (args, message) => {
  const { status, errors } = await smoke(own.city, args);
  expect([status, errors]).toEqual([1, expect.stringMatching(message)]);
});
