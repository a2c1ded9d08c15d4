import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { readLocalSecret } from "../../infra/local/secrets/store.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { callCommand, startCommand } from "../steps/command.ts";
import { residentHeader } from "../steps/residents/resident-csv.ts";

const own = useOwnCity();
const admin = withCityDatabase(own);
const nik = "9971011501800007";
const phone = "628110000007";
const folder = mkdtempSync(join(tmpdir(), "subject-"));
afterAll(() => rmSync(folder, { recursive: true }));

const line = (name: string) =>
  [nik, "9971011501809999", name, "IBU", "JL. RAHASIA 7", "LINGKUNGAN", "DESA", "KEC", "KOTA", ""].join();
const file = join(folder, "residents.csv");

beforeEach(async () => {
  await admin(async (sql) => {
    await sql`delete from resident.resident where nik = ${nik}`;
    await sql`delete from resident.erased_resident`;
    await sql`delete from resident.failed_verification`;
  });
  writeFileSync(file, `${residentHeader}\n${line("<b>SITI</b> O'NEIL & CO")}\n`);
  await importFile();
});

const settings = () => own.city.variables({ secrets: {} });
const onStage = ["--stage", "local"];
const importFile = () =>
  callCommand(() => import("../../infra/cli/import.ts"), settings(), "residents", file, ...onStage);
const answered = ["--by", "Rina", "--reason", "letter of the citizen"];
const subject = (...args: string[]) =>
  callCommand(() => import("../../infra/cli/subject/subject.ts"), settings(), ...args, ...onStage);
const startSubject = (...args: string[]) => startCommand("subject", settings(), ...args, ...onStage);

/** Reads as a partner that states its purpose. @returns the total, or the answers of a verification. */
const readAs = async (key: string, path: string, body: unknown): Promise<unknown> => {
  const response = await fetch(`${own.city.baseUrl}${path}`, {
    method: "POST",
    headers: {
      ...{ apikey: key, "content-type": "application/json" },
      ...{ "x-purpose": "tax", "x-case": "T-1", "x-user": "clerk-1" },
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const { total, data } = (await response.json()) as { total?: number; data: unknown };
  return total ?? data;
};

const addPartner = async (name: string) => {
  const sql = own.city.database.connectAs("partner-admin");
  const scopes = ["resident:read", "resident:number", "resident:verify"] as const;
  return partnerDirectory(sql)
    .add(name, "portal", { scopes })
    .finally(() => sql.end());
};

describe("report", () => {
  test("lists what is stored, and every read that showed it, but not those that showed others", async () => {
    const { key } = await addPartner("tax-office");
    await readAs(key, "/v1/penduduk", { page_size: 1 });
    await readAs(key, "/v1/penduduk", { page_size: 1, page_number: 2 });
    await readAs(key, "/v1/penduduk/search", { p_nik: nik });
    await readAs(key, "/v1/penduduk/search", { p_nama: "nobody has this name" });
    await readAs(key, "/v1/penduduk/verify", { p_nik: nik, p_nama_ibu: "Ibu", p_t_kec: "Lain" });
    const { status, out } = await subject("report", nik, "--by", "Rina", "--json");
    const report = JSON.parse(out);
    expect([status, report.state, report.resident]).toEqual([
      0,
      "stored",
      expect.objectContaining({
        ...{ nik, name: "<b>SITI</b> O'NEIL & CO", mother_name: "IBU", address: "JL. RAHASIA 7" },
        ...{ family_card_number: "9971011501809999", hamlet: "LINGKUNGAN", village: "DESA" },
      }),
    ]);
    const stated = { partner: "tax-office", purpose: "tax", case: "T-1" };
    expect(report.reads).toEqual([
      expect.objectContaining({
        ...stated,
        route: "verify",
        answers: { mother_name: true, district: false },
      }),
      expect.objectContaining({ ...stated, route: "search", answers: null }),
      expect.objectContaining({ ...stated, route: "list", answers: null }),
    ]);
    expect(out).not.toContain("clerk-1");
    const second = JSON.parse((await subject("report", nik, "--by", "Rina", "--json", "--case", "K-7")).out);
    expect(second.acts).toEqual([
      expect.objectContaining({ act: "report", by: "Rina", reason: "request of the citizen", case: null }),
    ]);
    expect(second.reads).toHaveLength(3);
  });

  test("shows a control character of an imported value as what it is, not to the terminal", async () => {
    await admin((sql) => sql`update resident.resident set address = E'JL. \u001b[2J' where nik = ${nik}`);
    const { out } = await subject("report", nik, "--by", "Rina");
    expect(out).toMatch(/address +JL\. \uFFFD\[2J/);
  });

  test("lists the messages to a number, and whether it has opted out", async () => {
    await admin(async (sql) => {
      await sql`
        insert into messaging.message (id, sender, kind, phone, content, expires_at)
        values ('m1', 'api:tax', 'text', ${phone}, '{"text": "a secret"}', now() + interval '1 day'),
          ('m2', 'api:tax', 'text', '628110000008', '{"text": "another"}', now() + interval '1 day')`;
      await sql`insert into messaging.contact (number, phone, since) values ('6281100000001', ${phone}, '2026-01-02T03:04:05Z')`;
    });
    const { out } = await subject("report", nik, "--by", "Rina", "--phone", phone, "--json");
    expect(JSON.parse(out).number).toEqual({
      messages: [expect.objectContaining({ id: "m1", sender: "api:tax", state: "PENDING" })],
      knownSince: "2026-01-02T03:04:05+00:00",
      optedOutSince: null,
    });
    expect(out).not.toContain("a secret");
    const text = await subject("report", nik, "--by", "Rina", "--phone", phone);
    expect(text.out).toMatch(/Messages to the number: 1\naccepted .*\n.* PENDING +text +api:tax/);
    const page = join(folder, "messages.html");
    await subject("report", nik, "--by", "Rina", "--phone", phone, "--html", page);
    expect(readFileSync(page, "utf8")).toContain("<td>menunggu</td><td>sistem tax</td>");
  });

  test("writes a page for the citizen that loads nothing, escapes what is stored, and only its owner may read", async () => {
    const page = join(folder, "report.html");
    const { status, out } = await subject("report", nik, "--by", "Rina", "--html", page);
    expect([status, out]).toEqual([0, `The page for the citizen is in ${page}\n`]);
    const written = readFileSync(page, "utf8");
    expect(written).toContain("<td>&lt;b&gt;SITI&lt;/b&gt; O&#39;NEIL &amp; CO</td>");
    expect(written).toContain("default-src 'none'");
    expect(written).not.toMatch(/src=|href=|url\(|@import/);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(await subject("report", nik, "--by", "Rina", "--html", page)).toMatchObject({
      status: 1,
      errors: `${page} exists already\n`,
    });
  });
});

test("correct prints what the values were, and takes only what an import would take", async () => {
  expect(await subject("correct", nik, ...answered, "--family-card", "123")).toMatchObject({
    status: 2,
    errors: "no_kk must have exactly 16 digits\n",
  });
  const { status, out } = await startSubject(
    "correct",
    nik,
    ...answered,
    "--name",
    "SITI",
    "--village",
    "DESA",
  ).ended;
  expect([status, out]).toEqual([
    0,
    expect.stringMatching(
      /^column +before +after\nname +<b>SITI<\/b> O'NEIL & CO +SITI\nCorrect the register, too/,
    ),
  ]);
});

test("restrict hides a resident until it is lifted, and an import does not show them", async () => {
  const { key } = await addPartner("health-office");
  const count = () => readAs(key, "/v1/penduduk/search", { p_nik: nik });
  expect((await startSubject("restrict", nik, ...answered).ended).out).toMatch(/^Resident \d+ is restricted/);
  await importFile();
  expect(await count()).toBe(0);
  expect(await subject("restrict", nik, ...answered)).toMatchObject({
    status: 1,
    errors: "The resident is restricted already.\n",
  });
  expect((await subject("restrict", nik, ...answered, "--lift")).out).toMatch(/is shown again/);
  expect(await count()).toBe(1);
});

describe("erase", () => {
  test("needs a terminal or --yes, and imports reject the number from then on", async () => {
    expect(await startSubject("erase", nik, ...answered).ended).toMatchObject({
      status: 2,
      errors: expect.stringContaining("Add --yes"),
    });
    const { status, out } = await startSubject("erase", nik, ...answered, "--yes").ended;
    expect([status, out]).toEqual([0, expect.stringMatching(/^Resident \d+ is erased\./)]);
    expect(await importFile()).toMatchObject({
      status: 3,
      out: expect.stringContaining("1  nik belongs to a resident who was erased"),
    });
    expect((await subject("erase", nik, ...answered, "--lift")).status).toBe(0);
    expect(await importFile()).toMatchObject({ status: 0, out: expect.stringContaining("1 added") });
  });

  test("stops an import that does not have the pepper", async () => {
    await subject("erase", nik, ...answered, "--yes");
    const { username, password, host, port, dbname } = readLocalSecret("database/importer", own.city.secrets);
    const others = { DATABASE_URL: `postgres://${username}:${password}@${host}:${port}/${dbname}` };
    const ended = await callCommand(() => import("../../infra/cli/import.ts"), others, "residents", file);
    expect(ended).toMatchObject({ status: 2, errors: expect.stringContaining("the secret audit-pepper") });
  });

  test("stops an import whose pepper is not the one that the erasures were recorded with", async () => {
    await subject("erase", nik, ...answered, "--yes");
    await admin((sql) => sql`update resident.erased_resident set pepper_version = 999`);
    const { status, out, errors } = await importFile();
    expect([status, out]).toEqual([1, ""]);
    expect(errors).toContain("the secret audit-pepper needs the version that it had when they were erased");
  });

  test("whose connection is lost while it waits leaves everything as it was", async () => {
    const read = async () => JSON.parse((await subject("report", nik, "--by", "Rina", "--json")).out);
    const before = await read();
    await admin((sql) =>
      sql.begin(async (held) => {
        await held`select from resident.resident where nik = ${nik} for update`;
        const command = startSubject("erase", nik, ...answered, "--yes");
        await admin(async (other) => {
          await other`grant municipal_subject to current_user`;
          const end = () => other`
            select pg_terminate_backend(pid) from pg_stat_activity
            where usename = 'municipal_subject' and wait_event = 'transactionid'`;
          await expect.poll(async () => (await end()).count, { timeout: 40_000 }).toBe(1);
        });
        expect((await command.ended).status).toBe(1);
      }),
    );
    const { state, resident, acts } = await read();
    const actsOf = (report: { acts: { act: string }[] }) => report.acts.map(({ act }) => act);
    expect([state, resident, actsOf({ acts })]).toEqual([
      "stored",
      before.resident,
      ["report", ...actsOf(before)],
    ]);
  });
});

describe("the citizens' portal", () => {
  const ask = async (event: unknown): Promise<Record<string, unknown>> => {
    const outcome = await own.city.invoke("report-subject", event);
    return "payload" in outcome ? JSON.parse(outcome.payload) : expect.fail(outcome.errorMessage);
  };

  test("gets the report that the command prints, which is audited as its own", async () => {
    const fromPortal = await ask({ nik, case: "K-21" });
    const reported = await subject("report", nik, ...answered, "--json");
    const { acts, ...same } = JSON.parse(reported.out);
    const { requestId, acts: former } = fromPortal as { requestId: string; acts: unknown[] };
    expect({ ...fromPortal, requestId: same.requestId, acts: former }).toEqual({ ...same, acts: former });
    expect(acts[0]).toMatchObject({
      ...{ act: "report", by: "(portal)", reason: "request in the portal", case: "K-21", requestId },
    });
  });

  test("is told that nobody has a number", async () =>
    expect(await ask({ nik: "9971011501800999" })).toMatchObject({ state: "unknown", resident: null }));

  test.each([
    [{}, "nik must be a string of 16 digits"],
    [null, 'send {"nik": "16 digits"}, and as you need them case and most'],
    [{ nik: "9971011501800007 " }, "nik must be a string of 16 digits"],
    [{ nik: Number(nik) }, "nik must be a string of 16 digits"],
    [
      { nik, case: nik },
      "case must be 1 to 100 letters, digits and signs of ASCII, without the number of a person",
    ],
    [{ nik, most: 0 }, "most must be a whole number from 1 to 10000"],
    [{ nik, phone }, 'send {"nik": "16 digits"}, and as you need them case and most'],
  ])("is told what is wrong with %j", async (event, error) => expect(await ask(event)).toEqual({ error }));

  test("is not told that nobody has a number while residents are erased with another pepper; the log says why", async () => {
    await admin(
      (sql) => sql`
        insert into resident.erased_resident (id, nik_digest, pepper_version, erased_by, reason)
        values (1000000, ${Buffer.alloc(32)}, 999, 'Rina', 'test')`,
    );
    const outcome = await own.city.invoke("report-subject", { nik: "9971011501800999" });
    expect(outcome).toMatchObject({ errorMessage: "database request failed" });
    expect(own.lines.join("\n")).toMatch(/"report to the portal failed".*"code":"MI450"/);
  });

  test("leaves nothing about a citizen in the log", async () => {
    await ask({ nik });
    expect(own.lines.join("\n")).not.toContain(nik);
  });
});
