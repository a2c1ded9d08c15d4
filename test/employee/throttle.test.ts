import { beforeEach, describe, expect, test } from "vitest";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { employeeClient, seenBy, setFailureMode } from "../steps/employee.ts";

const own = useOwnCity();
const client = () => employeeClient(own.city.baseUrl);
const demo = () => own.city.upstreams.demo;
const wrong = (username = demo().username) => client().login(username, "wrong");
const admin = withCityDatabase(own);

/** Lets time pass for every attempt made so far. */
const age = (interval: string) =>
  admin((sql) => sql`update employee.attempt set made_at = made_at - ${interval}::interval`);

const asked = async () => (await seenBy(own.city.upstreams.legacyAuthUrl)).length;
const statuses = (answers: readonly { status: number }[]) =>
  Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, list]) => [
    Number(status),
    list?.length,
  ]);
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

beforeEach(async () => {
  await admin((sql) => sql`delete from employee.attempt`);
  await setFailureMode(own.city.upstreams.legacyAuthUrl, "well");
});

describe("the account", () => {
  test("is limited to five wrong passwords in fifteen minutes, also concurrent ones", async () => {
    const before = await asked();
    // as many as the gateway's own throttle of this route lets through
    const answers = await times(100, () => wrong());
    expect(statuses(answers)).toEqual([
      [401, 5],
      [429, 95],
    ]);
    expect((await asked()) - before).toBe(5);
  });

  test("gets the time of the next attempt, which then succeeds", async () => {
    await times(5, () => wrong());
    const { status, json, headers } = await client().login(demo().username, demo().password);
    expect([status, json.code]).toEqual([429, "too_many_requests"]);
    const seconds = Number(headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(890);
    expect(seconds).toBeLessThanOrEqual(900);
    await age(`${seconds} seconds`);
    expect((await client().login(demo().username, demo().password)).status).toBe(200);
  });

  test("is the same in upper and lower case", async () => {
    await times(5, (i) => wrong(i % 2 ? "DEMO" : "demo"));
    expect((await wrong("Demo")).status).toBe(429);
  });

  test("is cleared of failures from the same address by a login, not of others", async () => {
    await times(4, () => wrong());
    await admin((sql) => sql`update employee.attempt set network_digest = '\\x01' where id % 2 = 0`);
    expect((await client().login(demo().username, demo().password)).status).toBe(200);
    const [row] = await admin((sql) => sql`select count(*)::int as count from employee.attempt`);
    expect(row?.count).toBe(2);
  });

  test("does not block another account", async () => {
    await times(5, () => wrong("someone"));
    expect((await client().login(demo().username, demo().password)).status).toBe(200);
  });

  test("accepts concurrent logins with the right password", async () => {
    const answers = await times(30, () => client().login(demo().username, demo().password));
    expect(statuses(answers)).toEqual([[200, 30]]);
  });
});

describe("a stranger's network", () => {
  const from = (address: string) => employeeClient(own.city.baseUrl, { address });
  const { username, password } = { username: () => demo().username, password: () => demo().password };

  test("locks only itself by five failures, also for the right password", async () => {
    const stranger = from("127.0.66.1");
    const answers = await times(8, () => stranger.login(username(), "wrong"));
    expect(statuses(answers)).toEqual([
      [401, 5],
      [429, 3],
    ]);
    expect((await from("127.0.66.2").login(username(), password())).status).toBe(429);
    expect((await from("127.0.77.1").login(username(), password())).status).toBe(200);
  });

  test("locks the account with others at thirty failures an hour, but not at the owner's known network", async () => {
    const [known, unknown] = [from("127.0.77.1"), from("127.0.78.1")];
    expect((await known.login(username(), password())).status).toBe(200);
    const strangers = await times(6, (i) =>
      times(5, (n) => from(`127.0.${100 + i}.${n + 1}`).login(username(), "wrong")),
    );
    expect(statuses(strangers.flat())).toEqual([[401, 30]]);
    const refused = await unknown.login(username(), password());
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);
    expect((await known.login(username(), password())).status).toBe(200);
    await age("1 hour");
    expect((await unknown.login(username(), password())).status).toBe(200);
  });
});

describe("the address", () => {
  test("is limited to ten failures a minute for all accounts together", async () => {
    const answers = await times(40, (i) => wrong(`account-${i}`));
    expect(statuses(answers)).toEqual([
      [401, 10],
      [429, 30],
    ]);
    await admin((sql) => sql`update employee.attempt set made_at = clock_timestamp()`);
    const { headers } = await wrong("another");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(45);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
    await age("61 seconds");
    expect((await wrong("another")).status).toBe(401);
  });
});

test("does not count attempts without an answer of the legacy system", async () => {
  await setFailureMode(own.city.upstreams.legacyAuthUrl, "error");
  const answers = await times(12, () => client().login(demo().username, demo().password));
  expect(statuses(answers)).toEqual([[502, 12]]);
  await setFailureMode(own.city.upstreams.legacyAuthUrl, "well");
  expect((await client().login(demo().username, demo().password)).status).toBe(200);
});

test("counts an attempt without an outcome for one minute only", async () => {
  await admin(
    (sql) => sql`
      insert into employee.attempt (account_digest) select '\\x01' from generate_series(1, 5)`,
  );
  const reserve = () =>
    admin((sql) => sql`select * from employee.reserve_attempt('\\x01', null, null)`).then(([row]) => row);
  expect(await reserve()).toEqual({ attempt_id: null, retry_after_seconds: null });
  await age("16 seconds");
  const later = await reserve();
  expect([later?.attempt_id, typeof later?.retry_after_seconds]).toEqual([null, "number"]);
  await age("45 seconds");
  expect((await reserve())?.attempt_id).toEqual(expect.any(String));
});

test("gives the same error to an unknown account, a wrong password and an invalid name", async () => {
  const answers = await Promise.all([wrong(), wrong("nobody"), client().login(demo().nip, demo().password)]);
  answers.push(await client().login("pegawai.demo", demo().passphrase));
  for (const { status, json, headers } of answers) {
    expect([status, { ...json, request_id: "" }]).toEqual([
      401,
      {
        status: "error",
        code: "unauthorized",
        message: "Username or password is wrong. Check both and log in again.",
        request_id: "",
      },
    ]);
    expect([...headers.keys()].toSorted()).toEqual([...(answers[0]?.headers.keys() ?? [])].toSorted());
  }
});

test("does not store the name or address of an attempt in plaintext", async () => {
  await wrong("somebody");
  const rows = await admin((sql) => sql`select * from employee.attempt`);
  const stored = JSON.stringify(rows.map((row) => Object.values(row).map(String)));
  expect(rows.length).toBe(1);
  expect(stored).not.toMatch(/somebody|127\.0\.0\.1/);
});

test("wrong passphrases for a ticket are rate-limited per employee", async () => {
  const { token } = (await client().login(demo().username, demo().password)).json;
  const ticket = (username: string, pass: string) =>
    client().get("tiket", { user: "servicelogin", username, pass }, token);
  const answers = await times(12, () => ticket(demo().nip, "wrong"));
  expect(statuses(answers)).toEqual([
    [403, 5],
    [429, 7],
  ]);
  expect((await ticket(demo().nip, demo().passphrase)).status).toBe(429);
  expect((await ticket("1".repeat(18), "wrong")).status).toBe(403);
  await age("15 minutes");
  expect((await ticket(demo().nip, demo().passphrase)).status).toBe(200);
});

test("failed logins and failed tickets for the same NIP share one limit", async () => {
  const { token } = (await client().login(demo().username, demo().password)).json;
  const ticket = (pass: string) =>
    client().get("tiket", { user: "servicelogin", username: demo().nip, pass }, token);
  expect(statuses(await times(3, () => wrong(demo().nip)))).toEqual([[401, 3]]);
  expect(statuses(await times(5, () => ticket("wrong")))).toEqual([
    [403, 2],
    [429, 3],
  ]);
  expect((await wrong(demo().nip)).status).toBe(429);
});

describe("a ticket", () => {
  const login = async (username: string, password: string) =>
    (await client().login(username, password)).json.token;
  const issue = async (token: string) =>
    (
      await client().get(
        "tiket",
        { user: "servicelogin", username: demo().nip, pass: demo().passphrase },
        token,
      )
    ).json.tiket;
  const use = (tiket: string, token: string) =>
    client().get("pegawai", { page: "sso", action: "getDataPegawai", tiket }, token);

  test("works for the account that got it, and is unknown to another", async () => {
    const [holder, other] = [
      await login(demo().username, demo().password),
      await login(demo().nip, demo().passphrase),
    ];
    const ticket = await issue(holder);
    expect((await use(ticket, other)).json.code).toBe("ticket_not_found");
    expect((await use(ticket, holder)).status).toBe(200);
  });

  test("is not accepted from an account without its scope", async () => {
    const ticket = await issue(await login(demo().username, demo().password));
    const { status, json } = await use(ticket, await login("reader", demo().password));
    expect([status, json.code]).toEqual([403, "forbidden"]);
    expect(json.message).toContain("employee:ticket");
  });

  test("is guessed at most ten times a minute, and never at the employee system", async () => {
    const token = await login(demo().username, demo().password);
    const before = (await seenBy(own.city.upstreams.employeeSystemUrl)).length;
    const answers = await times(15, (i) => use(`guess-${i}`, token));
    expect(statuses(answers)).toEqual([
      [404, 10],
      [429, 5],
    ]);
    expect((await seenBy(own.city.upstreams.employeeSystemUrl)).length).toBe(before);
    await age("1 minute");
    const mine = await issue(token);
    expect(statuses(await times(30, () => use(mine, token)))).toEqual([[200, 30]]);
  });

  test("is stored as a digest, for a day", async () => {
    const token = await login(demo().username, demo().password);
    const ticket = await issue(token);
    const rows = await admin((sql) => sql`select encode(digest, 'escape') as digest from employee.ticket`);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(ticket);
    await admin((sql) => sql`update employee.ticket set issued_at = issued_at - interval '1 day'`);
    expect((await use(ticket, token)).status).toBe(404);
  });
});

test("one account's failures for many employees are rate-limited, without affecting another account", async () => {
  const login = async (username: string, password: string) =>
    (await client().login(username, password)).json.token;
  const guesser = await login(demo().username, demo().password);
  const owner = await login(demo().nip, demo().passphrase);
  const ticket = (username: string, pass: string, token: string) =>
    client().get("tiket", { user: "servicelogin", username, pass }, token);
  const answers = await times(15, (i) => ticket(String(i).padStart(18, "1"), "wrong", guesser));
  expect(statuses(answers)).toEqual([
    [403, 10],
    [429, 5],
  ]);
  expect((await ticket(demo().nip, demo().passphrase, owner)).status).toBe(200);
});

test("a rejection takes at least half a second, whatever the legacy system's reason", async () => {
  await Promise.all([wrong("nobody-at-all"), wrong()]);
  const refusals = own.logged().filter(({ fn, status }) => fn === "employee/login" && status === 401);
  // a timer never fires early; how late it fires is the machine's
  for (const { ms } of refusals) expect(ms).toBeGreaterThanOrEqual(499);
  expect(refusals.length).toBeGreaterThanOrEqual(2);
});

test("the legacy system is not called when the attempt cannot be stored", async () => {
  const before = await asked();
  await admin((sql) => sql`alter table employee.attempt rename to gone`);
  try {
    expect((await client().login(demo().username, demo().password)).status).toBe(500);
  } finally {
    await admin((sql) => sql`alter table employee.gone rename to attempt`);
  }
  expect(await asked()).toBe(before);
});
