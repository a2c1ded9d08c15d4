import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useOwnCity } from "../steps/city/own-city.ts";
import { employeeClient, type Said, seenBy, setFailureMode } from "../steps/employee.ts";

const own = useOwnCity();
const client = () => employeeClient(own.city.baseUrl);
const upstreams = () => own.city.upstreams;
const systems = () => [upstreams().legacyAuthUrl, upstreams().employeeSystemUrl];

let token: string;
let ticket: string;

beforeAll(async () => {
  token = (await client().login(upstreams().demo.username, upstreams().demo.password)).json.token;
  ticket = (await client().get("tiket", ticketQuery(), token)).json.tiket;
});
beforeEach(() => Promise.all(systems().map((url) => setFailureMode(url, "well"))));

const ticketQuery = () => ({
  user: "servicelogin",
  username: upstreams().demo.nip,
  pass: upstreams().demo.passphrase,
});

/** Concurrent requests to all legacy systems. */
const askAll = (): Promise<Said[]> =>
  Promise.all([
    client().login(upstreams().demo.username, upstreams().demo.password),
    client().get("tiket", ticketQuery(), token),
    client().get("pegawai", { nama: "siti" }, token),
    client().get("pegawai", { page: "sso", action: "getDataPegawai", tiket: ticket }, token),
  ]);

describe("a legacy system that", () => {
  test.each([
    ["cuts the connection", "reset"],
    ["cuts the connection within its answer", "half"],
    ["answers an HTML page with 200", "html"],
    ["answers an HTML page with 500", "error"],
    ["answers 10 MB", "huge"],
    ["redirects", "redirect"],
  ])("%s causes 502 without details", async (_, failureMode) => {
    await Promise.all(systems().map((url) => setFailureMode(url, failureMode)));
    for (const { status, json, text } of await askAll()) {
      expect([status, json.code]).toEqual([502, "bad_gateway"]);
      expect(text).not.toMatch(/html|apache|php|127\.0\.0\.1|index/i);
    }
  });

  test("is slow gets time to answer", async () => {
    await setFailureMode(upstreams().employeeSystemUrl, "slow");
    expect((await client().get("pegawai", { nama: "siti" }, token)).status).toBe(200);
  });

  test("redirects is not followed", async () => {
    await setFailureMode(upstreams().employeeSystemUrl, "redirect");
    await client().get("pegawai", { nama: "once" }, token);
    const seen = (await seenBy(upstreams().employeeSystemUrl)).filter(({ url }) =>
      /once|php\/login/.test(url),
    );
    expect(seen.length).toBe(1);
  });

  test("closes the connection gets a GET a second time, but not a login", async () => {
    await Promise.all(systems().map((url) => setFailureMode(url, "reset")));
    await client().get("pegawai", { nama: "twice" }, token);
    const before = (await seenBy(upstreams().legacyAuthUrl)).length;
    await client().login(upstreams().demo.username, "once");
    const searches = (await seenBy(upstreams().employeeSystemUrl)).filter(({ url }) => url.includes("twice"));
    expect(searches.length).toBe(2);
    expect((await seenBy(upstreams().legacyAuthUrl)).length - before).toBe(1);
  });
});

test("the log names the system and the reason of a failure", async () => {
  await setFailureMode(upstreams().employeeSystemUrl, "error");
  await client().get("pegawai", { nama: "siti" }, token);
  await setFailureMode(upstreams().employeeSystemUrl, "huge");
  await client().get("pegawai", { nama: "siti" }, token);
  const reasons = own
    .logged()
    .filter(({ message }) => message === "request failed")
    .map(({ request_id, error }) => [typeof request_id, error.cause.message]);
  const words = "EMPLOYEE_SYSTEM_URL gave an invalid response:";
  expect(reasons).toContainEqual(["string", `${words} status 500`]);
  expect(reasons).toContainEqual(["string", `${words} the answer is larger than 5242880 bytes`]);
});

test("no log contains a passphrase, ticket, name, NIP or password", async () => {
  const planted = [
    "PLANTED-PASS",
    "PLANTED-TICKET",
    "PLANTED-NAME",
    "PLANTED-PASSWORD",
    "111122223333444455",
  ];
  for (const failureMode of ["well", "reset", "html", "huge"]) {
    await Promise.all(systems().map((url) => setFailureMode(url, failureMode)));
    await Promise.all([
      client().login("planted-user", "PLANTED-PASSWORD"),
      client().get(
        "tiket",
        { user: "servicelogin", username: "111122223333444455", pass: "PLANTED-PASS" },
        token,
      ),
      client().get("tiket", { user: "x", username: "111122223333444455", pass: "PLANTED-PASS" }, token),
      client().get("tiket", { user: "servicelogin", username: "1", pass: "PLANTED-PASS" }, "no.token"),
      client().get("pegawai", { nama: "PLANTED-NAME", nip: "111122223333444455" }, token),
      client().get("pegawai", { page: "sso", action: "getDataPegawai", tiket: "PLANTED-TICKET" }, token),
    ]);
  }
  const lines = own.lines.join("\n");
  expect(own.lines.length).toBeGreaterThan(20);
  for (const secret of [...planted, "planted-user", upstreams().demo.passphrase, token])
    expect(lines).not.toContain(secret);
});
