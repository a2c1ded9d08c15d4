import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { beforeEach, describe, expect, test } from "vitest";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { closeAccounts, employeeClient, seenBy, setFailureMode } from "../steps/employee.ts";

const own = useOwnCity();
const client = () => employeeClient(own.city.baseUrl);
const admin = withCityDatabase(own);

let first: string;

const legacyAuth = () => own.city.upstreams.legacyAuthUrl;

beforeEach(async () => {
  await setFailureMode(legacyAuth(), "well");
  await closeAccounts(legacyAuth());
  const { username, password } = own.city.upstreams.demo;
  first = (await client().login(username, password)).json.refresh_token;
});

/** Lets time pass since every spent token was spent. */
const ageSpent = (interval: string) =>
  admin((sql) => sql`update employee.refresh_token set spent_at = spent_at - ${interval}::interval`);

const next = async (token: string): Promise<string> => (await client().refresh(token)).json.refresh_token;
const refusal = async (token: string) => {
  const { status, json } = await client().refresh(token);
  return [status, json.error];
};
const sessions = () =>
  admin((sql) => sql`select end_reason from employee.session order by started_at desc limit 1`);

describe("a refresh token", () => {
  test("that is used fifty times at once has one successor, which works", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => client().refresh(first)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const successors = new Set(answers.map(({ json }) => json.refresh_token));
    expect(successors.size).toBe(1);
    expect((await client().refresh([...successors][0])).status).toBe(200);
    const [row] = await admin(
      (sql) => sql`
        select count(*)::int as count from employee.refresh_token t
        where t.session_id = (select id from employee.session order by started_at desc limit 1)`,
    );
    expect(row?.count).toBe(3);
  });

  test("gives the same successor again within its retry window", async () => {
    const second = await next(first);
    await ageSpent("29 seconds");
    expect(await next(first)).toBe(second);
    expect((await client().refresh(second)).status).toBe(200);
  });

  test("that is used after its retry window ends the session and all its tokens", async () => {
    const second = await next(first);
    const third = await next(second);
    await ageSpent("31 seconds");
    for (const token of [first, second, third]) expect(await refusal(token)).toEqual([400, "invalid_grant"]);
    expect((await sessions())[0]?.end_reason).toBe("reuse");
    const warnings = own.logged().filter(({ message }) => /was reused/.test(message));
    expect(warnings.length).toBe(1);
  });

  const clientAt = (address: string, userAgent?: string) =>
    employeeClient(own.city.baseUrl, { address, ...(userAgent && { userAgent }) });

  const others = [
    ["address of the same network", () => clientAt("127.0.0.9")],
    ["network", () => clientAt("127.0.66.1")],
    ["user agent", () => clientAt("127.0.0.1", "stolen")],
  ] as const;

  test.each(others)(
    "gives the same successor again to another %s, in case the answer was lost",
    async (_, make) => {
      const second = await next(first);
      expect((await make().refresh(first)).json.refresh_token).toBe(second);
      expect((await make().refresh(second)).status).toBe(200);
    },
  );

  const thieves = others.slice(1);

  test.each(thieves)(
    "that another %s presents after its successor was used ends the session",
    async (_, make) => {
      const third = await next(await next(first));
      expect((await make().refresh(first)).json.error).toBe("invalid_grant");
      expect(await refusal(third)).toEqual([400, "invalid_grant"]);
      expect((await sessions())[0]?.end_reason).toBe("reuse");
    },
  );

  test.each(thieves)(
    "that another %s presents in step with its owner ends the session in the second round",
    async (_, make) => {
      const second = await next(first);
      await make().refresh(first);
      const third = await next(second);
      expect((await make().refresh(second)).json.error).toBe("invalid_grant");
      expect(await refusal(third)).toEqual([400, "invalid_grant"]);
      expect((await sessions())[0]?.end_reason).toBe("reuse");
    },
  );

  test("is given again to a phone that returns to its first network, after a refresh in the second", async () => {
    const abroad = clientAt("127.0.66.1");
    const second = await next(first);
    await abroad.refresh(first);
    const third = (await abroad.refresh(second)).json.refresh_token;
    const fourth = (await abroad.refresh(third)).json.refresh_token;
    expect(await next(third)).toBe(fourth);
  });

  test("works from a new network when nobody has used it", async () =>
    expect((await clientAt("127.0.66.1").refresh(first)).status).toBe(200));

  test("that ends a session does not end the account's other sessions", async () => {
    const { username, password } = own.city.upstreams.demo;
    const other = (await client().login(username, password)).json.refresh_token;
    await next(first);
    await ageSpent("31 seconds");
    await client().refresh(first);
    expect((await client().refresh(other)).status).toBe(200);
  });

  test("that was changed is rejected without ending the session", async () => {
    for (const changed of [`${first}x`, first.slice(0, -1), first.toUpperCase(), `${first.slice(0, -1)}!`])
      expect(await refusal(changed)).toEqual([400, "invalid_grant"]);
    expect((await client().refresh(first)).status).toBe(200);
  });
});

describe("a session", () => {
  test("ends thirty days after its login, despite refreshes", async () => {
    const second = await next(first);
    await admin((sql) => sql`update employee.session set expires_at = expires_at - interval '30 days'`);
    expect(await refusal(second)).toEqual([400, "invalid_grant"]);
    const [row] = await admin(
      (sql) => sql`
        select expires_at + interval '30 days' - started_at = interval '30 days' as whole
        from employee.session order by started_at desc limit 1`,
    );
    expect(row?.whole).toBe(true);
  });

  test("is not stored in a usable form", async () => {
    const second = await next(first);
    const rows = await admin(
      (sql) =>
        sql`select encode(digest, 'escape') d, encode(sealed_successor, 'escape') s from employee.refresh_token`,
    );
    const stored = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(1);
    for (const token of [first, second]) {
      expect(stored).not.toContain(token);
      expect(stored).not.toContain(Buffer.from(token.slice(4), "base64url").toString("latin1"));
    }
  });
});

describe("at a refresh, the legacy system", () => {
  /** Lets time pass since the legacy system was asked, and since it last confirmed the accounts. */
  const age = (asked: string, confirmed = asked) =>
    admin(
      (sql) => sql`
        update employee.session
        set asked_at = asked_at - ${asked}::interval, confirmed_at = confirmed_at - ${confirmed}::interval,
          expires_at = expires_at - ${confirmed}::interval`,
    );
  const checks = async () => (await seenBy(legacyAuth())).filter(({ method }) => method === "GET").length;

  test("is asked at most once a minute for a session", async () => {
    const before = await checks();
    const second = await next(first);
    expect(await checks()).toBe(before);
    await age("1 minute");
    await Promise.all(Array.from({ length: 5 }, () => client().refresh(second)));
    expect(await checks()).toBe(before + 1);
  });

  test("ends all sessions of a closed account within a minute", async () => {
    const { username, password } = own.city.upstreams.demo;
    const other = (await client().login(username, password)).json.refresh_token;
    const reader = (await client().login("reader", password)).json.refresh_token;
    await closeAccounts(legacyAuth(), "1");
    await age("1 minute");
    expect(await refusal(first)).toEqual([400, "invalid_grant"]);
    await closeAccounts(legacyAuth());
    expect(await refusal(other)).toEqual([400, "invalid_grant"]);
    expect((await client().refresh(reader)).status).toBe(200);
    const rows = await admin(
      (sql) =>
        sql`select distinct end_reason from employee.session where account_id = '1' and ended_at > started_at`,
    );
    expect(rows.map(({ end_reason }) => end_reason)).toContain("closed");
  });

  test("changes the scope of the session", async () => {
    await admin((sql) => sql`update employee.session set scope = 'employee:read'`);
    await age("1 minute");
    expect((await client().refresh(first)).json.scope).toBe("employee:read employee:ticket");
  });

  test("may be unavailable for a day; then refreshes are 503 until it answers", async () => {
    await setFailureMode(legacyAuth(), "error");
    await age("1 minute", "23 hours");
    const second = await next(first);
    await age("1 minute", "1 hour");
    for (let i = 0; i < 2; i++) {
      const { status, json, headers } = await client().refresh(second);
      expect([status, json.error, headers.get("retry-after")]).toEqual([
        503,
        "temporarily_unavailable",
        "60",
      ]);
    }
    await setFailureMode(legacyAuth(), "well");
    await age("1 minute", "0");
    expect((await client().refresh(second)).status).toBe(200);
  });

  test("that cannot tell whether an account is closed limits the session to a day", async () => {
    await setFailureMode(legacyAuth(), "missing");
    await age("1 minute");
    const second = await next(first);
    await age("0", "23 hours 58 minutes");
    const third = await next(second);
    await age("0", "1 minute");
    expect(await refusal(third)).toEqual([400, "invalid_grant"]);
  });
});

describe("a real OAuth client", () => {
  const server = () => ({
    issuer: own.city.baseUrl,
    token_endpoint: `${own.city.baseUrl}/v1/simpeg/auth/refresh`,
  });

  test("oauth4webapi can refresh, and understands invalid_grant", async () => {
    const app: oauth.Client = { client_id: "app" };
    const ask = async (token: string) => {
      const response = await oauth.refreshTokenGrantRequest(server(), app, oauth.None(), token, {
        [oauth.allowInsecureRequests]: true,
      });
      return oauth.processRefreshTokenResponse(server(), app, response);
    };
    const answer = await ask(first);
    expect([answer.token_type, answer.expires_in, answer.scope]).toEqual([
      "bearer",
      900,
      "employee:read employee:ticket",
    ]);
    const { status } = await client().get("pegawai", { nama: "siti" }, answer.access_token);
    expect(status).toBe(200);
    const error = await ask("mir_unknown").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(oauth.ResponseBodyError);
    expect(error).toMatchObject({ error: "invalid_grant", status: 400 });
  });

  test("openid-client can refresh, and understands invalid_grant", async () => {
    const config = new openid.Configuration(server(), "app", undefined, openid.None());
    openid.allowInsecureRequests(config);
    const answer = await openid.refreshTokenGrant(config, first);
    // the client counts from when it got the answer
    expect(answer.expiresIn()).toBeGreaterThan(880);
    const again = await openid.refreshTokenGrant(config, answer.refresh_token ?? "");
    expect(again.access_token).not.toBe(answer.access_token);
    await expect(openid.refreshTokenGrant(config, "mir_unknown")).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });
});

test("no log contains a token", async () => {
  const second = await next(first);
  const { token } = (await client().refresh(second)).json;
  const lines = own.lines.join("\n");
  for (const secret of [first, second, token]) expect(lines).not.toContain(secret);
});
