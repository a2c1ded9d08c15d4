import postgres from "postgres";
import { beforeEach, expect, test } from "vitest";
import { metricsOf } from "../../../infra/aws/operations/function-metrics.ts";
import {
  authorizerFailures,
  badBoundaries,
  databaseFailures,
  type LogMetric,
  messengerMetric,
  missingConnections,
  moreThanAgreed,
  pendingChanges,
  requestFailures,
  tooManyGuesses,
  upstreamFailures,
} from "../../../infra/aws/operations/log-metric.ts";
import { usedMetrics } from "../../../infra/aws/operations/messenger-alarms.ts";
import { useDeliveringCity } from "../../steps/city/delivering-city.ts";
import { withCityDatabase } from "../../steps/city/own-city.ts";
import { employeeClient } from "../../steps/employee.ts";
import { withoutConnections } from "../../steps/exhausted-roles.ts";
import { matches } from "./filter-pattern.ts";

const city = useDeliveringCity();
const { own } = city;
const counted = ({ pattern }: LogMetric) => own.logged().filter((line) => matches(pattern, line)).length;
/** A function's line may come after its answer. */
const expectCounted = (metric: LogMetric, count: number) =>
  expect.poll(() => [metric.name, counted(metric)]).toEqual([metric.name, count]);
const failures = [
  ...[badBoundaries, authorizerFailures, databaseFailures, requestFailures, tooManyGuesses],
  moreThanAgreed,
];

const admin = withCityDatabase(own);
const setFailureMode = (url: string, failureMode: string) =>
  fetch(`${url}/mood`, { method: "PUT", body: failureMode });

test("the messenger's log line contains each metric as a number", () => {
  const [line] = own.logged().filter(({ message }) => message === "metrics");
  for (const metric of usedMetrics) {
    const { pattern, value } = messengerMetric(metric);
    expect([metric, matches(pattern, line)]).toEqual([metric, true]);
    expect(value).toBe(`$.${metric}`);
  }
});

beforeEach(({ task }) => {
  if (!task.name.startsWith("the messenger's")) own.lines.length = 0;
});

test("successes and caller errors are not counted", async () => {
  await own.ask("/v1/penduduk", { page_number: "1" });
  await own.ask("/v1/penduduk", {});
  await city.client.sendMessage({ phone: "x" });
  for (const failure of failures) expect([failure.name, counted(failure)]).toEqual([failure.name, 0]);
});

test("a wrong multipart header counts as a caller error, so that its 500 fires no alarm", async () => {
  const { status } = await city.client.ask("/send/file", {
    headers: { "content-type": "text/plain" },
    body: "x",
  });
  expect(status).toBe(500);
  await expectCounted(badBoundaries, 1);
});

test.each([
  ["LEGACY_AUTH_URL", "html", 502],
  ["LEGACY_AUTH_URL", "hang", 504],
] as const)("%s that answers %s is counted for that system", async (system, failureMode, status) => {
  const { legacyAuthUrl, demo } = own.city.upstreams;
  await setFailureMode(legacyAuthUrl, failureMode);
  const answer = await employeeClient(own.city.baseUrl).login(demo.username, demo.password);
  await setFailureMode(legacyAuthUrl, "well");
  expect(answer.status).toBe(status);
  await expectCounted(upstreamFailures(system), 1);
  expect(counted(upstreamFailures("EMPLOYEE_SYSTEM_URL"))).toBe(0);
});

test("a refresh counts for the legacy system that does not confirm its account only when it fails", async () => {
  const { legacyAuthUrl, demo } = own.city.upstreams;
  const client = employeeClient(own.city.baseUrl);
  const { refresh_token: token } = (await client.login(demo.username, demo.password)).json;
  const before = counted(upstreamFailures("LEGACY_AUTH_URL"));
  const age = (interval: string) =>
    admin(
      (sql) => sql`
        update employee.session
        set asked_at = asked_at - ${interval}::interval, confirmed_at = confirmed_at - ${interval}::interval`,
    );
  await setFailureMode(legacyAuthUrl, "error");
  await age("1 minute");
  const second = await client.refresh(token);
  expect([second.status, counted(upstreamFailures("LEGACY_AUTH_URL"))]).toEqual([200, before]);
  await age("1 day");
  const third = await client.refresh(second.json.refresh_token);
  await setFailureMode(legacyAuthUrl, "well");
  expect(third.status).toBe(503);
  await expectCounted(upstreamFailures("LEGACY_AUTH_URL"), before + 1);
});

test("an unavailable database is counted for the function that uses it, and for the authorizer that needs it", async () => {
  await own.city.database.server.stop();
  // a new key, because the authorizer caches the others
  const headers = { apikey: `mia_${"x".repeat(43)}` };
  const guarded = await fetch(`${own.city.baseUrl}/v1/penduduk`, { method: "POST", headers });
  const statuses = [(await own.ask("/v1/pariwisata/kategori")).status, guarded.status];
  await own.city.database.server.start();
  expect(statuses).toEqual([500, 500]);
  await expectCounted(databaseFailures, 2);
  await expectCounted(authorizerFailures, 1);
});

test("a request that gets no database connection is counted, and not as an unavailable database", async () => {
  await withoutConnections(own.city.database.adminUrl, ["municipal_tourism"], async () => {
    expect((await own.ask("/v1/pariwisata/kategori")).status).toBe(503);
  });
  await expectCounted(missingConnections, 1);
  expect(counted(databaseFailures)).toBe(0);
});

test("a failed notification request is counted, a successful one is not", () => {
  const line = { message: "notification", request: "event-1", template: "one-time-code" };
  expect(matches(requestFailures.pattern, { ...line, level: "error", outcome: "failed" })).toBe(true);
  expect(matches(requestFailures.pattern, { ...line, level: "info", outcome: "accepted" })).toBe(false);
  expect(
    matches(requestFailures.pattern, { level: "error", message: "notification run failed", run: "1" }),
  ).toBe(false);
});

test("maintenance logs the number of resident changes that were pending at its start", async () => {
  expect(await own.city.invoke("maintain", {})).toEqual({ payload: "null" });
  const lines = own.logged().filter((line) => matches(pendingChanges.pattern, line));
  expect(lines).toMatchObject([{ pending_changes: expect.any(Number) }]);
  expect(pendingChanges.value).toBe("$.pending_changes");
});

test("the probe gets an answer from both APIs", async () =>
  expect(await own.city.invoke("probe", {})).toEqual({ payload: "null" }));

test("a search of a partner that has missed too often is counted", async () => {
  const sql = postgres(own.city.database.adminUrl, { max: 1 });
  await sql`
    insert into resident.read_count (partner_id, since, residents, look_ups, unknown_numbers) values ('demo', now(), 200, 200, 200)`;
  await sql.end();
  const answer = await own.ask("/v1/penduduk/search", { p_nik: "9971011234567890" });
  expect(answer.status).toBe(429);
  await expectCounted(tooManyGuesses, 1);
  expect(own.logged().filter(({ message }) => message === "too many guesses")).toMatchObject([
    { level: "warn", partner_id: "demo", key_id: expect.stringMatching(/^key_/) },
  ]);
});

test("each function's log has filters only for what it can contain", () => {
  const names = (fn: string) => metricsOf(fn).map(({ name }) => name);
  expect(names("tourism/gallery")).toEqual(["DatabaseFailures", "MissingConnections"]);
  expect(names("resident/search")).toEqual([
    "DatabaseFailures",
    "MissingConnections",
    "TooManyGuesses",
    "MoreReadThanAgreed",
  ]);
  expect(names("resident/verify")).toEqual(names("resident/search"));
  expect(names("resident/list")).toEqual(["DatabaseFailures", "MissingConnections", "MoreReadThanAgreed"]);
  expect(names("messaging/send-file")).toEqual(["BadBoundaries"]);
  expect(names("messaging/send-message")).toEqual([]);
  expect(names("employee/login")).toEqual([
    "DatabaseFailures",
    "MissingConnections",
    "UpstreamFailures-LEGACY_AUTH_URL",
  ]);
  expect(names("authorizers/api-key")).toEqual([
    "DatabaseFailures",
    "MissingConnections",
    "AuthorizerFailures",
  ]);
  expect(names("authorizers/basic")).toEqual(names("authorizers/api-key"));
  expect(names("authorizers/bearer")).toEqual(["AuthorizerFailures"]);
  expect(names("notify")).toEqual(["RequestFailures"]);
  expect(names("maintain")).toEqual(["PendingChanges"]);
});
