import { createHmac } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { PartnerScope } from "#lib/routes/route.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { partnersOf } from "../steps/residents/partners.ts";

const own = useOwnCity();
const admin = withCityDatabase(own);
const { addPartner, post } = partnersOf(own);
const nik = "9971011501800007";
/** Nobody has it. */
const unknown = "9971011501800008";

beforeEach(async () => {
  await admin(async (sql) => {
    await sql`delete from resident.failed_verification`;
    await sql`
      insert into resident.resident
        (nik, family_card_number, name, mother_name, address, hamlet, village, district, city)
      values (${nik}, '9971011501809999', 'SOEPRIJADI WIDJAJA', 'RR. Noer ''Aini', 'JL. RAHASIA 7', 'LINGKUNGAN II',
        'Batu-Merah', 'SIRIMAU', 'KOTA CONTOH')
      on conflict do nothing`;
  });
});

/** Adds a partner whose key has these scopes alone. */
const addKey = async (...scopes: PartnerScope[]) => (await addPartner({}, { scopes })).key;

const verify = (body: object | string, key = own.city.apiKey) => post(key, "/verify", body);
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
const jsonOf = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json();
const wrong = (p_nik: string) => ({ p_nik, p_nama: "Orang Lain" });

test("each value gets its own answer, and no value is returned", async () => {
  const response = await verify({
    p_nik: nik,
    p_nama: "Dr. Supriyadi Wijaya, M.M.",
    p_nama_ibu: "Rr Nur Aini",
    p_no_kk: "9971011501809998",
    p_t_dusun_lingkungan: "lingkungan ii",
    p_t_desakel: "BATU MERAH",
    p_t_kec: "Nusaniwe",
    p_t_kabkota: " ",
  });
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      data: {
        p_nama: "match",
        p_nama_ibu: "match",
        p_no_kk: "no_match",
        p_t_dusun_lingkungan: "match",
        p_t_desakel: "match",
        p_t_kec: "no_match",
      },
    },
  ]);
});

test("a number that nobody has is answered like a wrong value", async () => {
  const answers = [];
  for (const number of [nik, unknown]) {
    const response = await verify({ ...wrong(number), p_no_kk: "0000000000000000" });
    const headers = Object.fromEntries(response.headers);
    for (const name of ["date", "x-request-id", "x-amzn-requestid", "x-amzn-trace-id", "ratelimit"])
      delete headers[name];
    answers.push({ status: response.status, headers, text: await response.text() });
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(answers[1]?.text).toBe('{"data":{"p_nama":"no_match","p_no_kk":"no_match"}}');
});

test("an area says nothing about a number without a value that identifies the citizen", async () => {
  const areas = { p_t_kec: "Sirimau", p_t_kabkota: "Kota Contoh" };
  const alone = await verify({ p_nik: nik, ...areas });
  expect([alone.status, (await jsonOf(alone)).errors[0].field]).toEqual([400, "p_nama"]);
  const known = await jsonOf(verify({ ...wrong(nik), ...areas }));
  expect(known).toEqual(await jsonOf(verify({ ...wrong(unknown), ...areas })));
  expect(known.data).toEqual({ p_nama: "no_match", p_t_kec: "no_match", p_t_kabkota: "no_match" });
  const identified = { p_nik: nik, p_nama: "Salah", p_no_kk: "9971011501809999", ...areas };
  expect((await jsonOf(verify(identified))).data).toMatchObject({ p_nama: "no_match", p_t_kec: "match" });
});

test("the database rejects two claims about one column, which would be two guesses in one", async () => {
  const sql = own.city.database.connectAs("resident");
  const claims = '{"name": "a", "name": "b"}';
  const guesses = sql`select resident.verify(${nik}, ${claims}::text::json, 'p', 'k', 'r', ${Buffer.alloc(32)}, 1)`;
  await expect(guesses).rejects.toMatchObject({ code: "22023" });
  await sql.end();
});

test("a value without letters matches nothing, also where the register has none", async () => {
  await admin((sql) => sql`update resident.resident set hamlet = '', mother_name = '-' where nik = ${nik}`);
  const claims = { p_nama: "Supriyadi Wijaya", p_nama_ibu: "...", p_t_dusun_lingkungan: "-" };
  const { data } = await jsonOf(verify({ p_nik: nik, ...claims }));
  await admin((sql) => sql`delete from resident.resident where nik = ${nik}`);
  expect(data).toEqual({ p_nama: "match", p_nama_ibu: "no_match", p_t_dusun_lingkungan: "no_match" });
});

describe("wrong input", () => {
  test.each([
    [{}, ["p_nik"]],
    [{ p_nik: nik }, ["p_nama"]],
    [{ p_nik: nik, p_nama: " ", p_no_kk: "" }, ["p_nama"]],
    [
      { p_nik: 997101150180000, p_nama: ["a"], p_no_kk: "12", p_t_kec: null, p_nama_ibu: "a\u0000" },
      ["p_nik", "p_nama", "p_nama_ibu", "p_no_kk", "p_t_kec"],
    ],
    [{ p_nik: `${nik} `, p_nama: "x".repeat(501) }, ["p_nik", "p_nama"]],
  ])("%j is 400 and names every wrong field", async (body, fields) => {
    const response = await verify(body);
    const { errors } = await jsonOf(response);
    expect([response.status, errors.map(({ field }: { field: string }) => field)]).toEqual([400, fields]);
  });

  test.each([
    ["[]", 400],
    ["{", 400],
    [`{"p_nik":"${nik}","p_nama":"\\ud800"}`, 400],
    [JSON.stringify({ p_nik: nik, p_nama: "x".repeat(70_000) }), 413],
  ])("%#: a body that is no object, no JSON, half a character or too large: %i", async (body, status) =>
    expect((await verify(body)).status).toBe(status),
  );

  test("is not counted as a wrong value", async () => {
    for (let n = 0; n < 12; n++) await verify({ p_nik: nik, p_nama: 7 });
    expect((await verify(wrong(nik))).status).toBe(200);
  });
});

test("a key verifies with the scope for it alone, which reveals no other data", async () => {
  const statuses = async (key: string) => [
    (await post(key, "")).status,
    (await post(key, "/search", { p_nama: "a" })).status,
    (await verify({ p_nik: nik, p_nama: "a" }, key)).status,
  ];
  expect(await statuses(await addKey("resident:verify"))).toEqual([403, 403, 200]);
  expect(await statuses(await addKey("resident:read", "resident:number"))).toEqual([200, 200, 403]);
});

describe("the limit of wrong values", () => {
  test("stops 1,000 guesses of 20 callers of two partners at one number after ten", async () => {
    const keys = [await addKey("resident:verify"), await addKey("resident:verify")];
    const answers: Response[] = [];
    let made = 0;
    const guess = async () => {
      for (let number = made++; number < 1_000; number = made++) {
        const p_nama = number % 100 === 99 ? "SOEPRIJADI WIDJAJA" : `Tebakan ${number}`;
        answers.push(await verify({ p_nik: nik, p_nama }, keys[number % 2]));
      }
    };
    await Promise.all(Array.from({ length: 20 }, guess));
    const answered = answers.filter(({ status }) => status === 200);
    const texts = await Promise.all(answered.map((answer) => answer.text()));
    expect(texts.filter((text) => text.includes("no_match"))).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1_000 - texts.length);
    const [row] = await admin((sql) => sql`select count(*)::int as count from resident.failed_verification`);
    expect(row?.count).toBe(10);
  });

  test("holds for the right value too, for the other partners, and ends a day after the tenth", async () => {
    for (let n = 0; n < 10; n++) expect((await verify(wrong(nik))).status).toBe(200);
    const key = await addKey("resident:verify");
    const right = () => verify({ p_nik: nik, p_nama: "Supriyadi Wijaya" }, key);
    const response = await right();
    const { code } = await jsonOf(response);
    expect([response.status, code]).toEqual([429, "too_many_requests"]);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(86_000);
    expect((await verify({ ...wrong(unknown) }, key)).status).toBe(200);
    await admin((sql) => sql`update resident.failed_verification set made_at = made_at - interval '1 day'`);
    expect((await jsonOf(right())).data).toEqual({ p_nama: "match" });
  });

  test("is the same for a number that nobody has", async () => {
    for (let n = 0; n < 10; n++) expect((await verify(wrong(unknown))).status).toBe(200);
    expect((await verify(wrong(unknown))).status).toBe(429);
  });

  test("is not moved by right values, of whoever", async () => {
    const right = { p_nik: nik, p_nama: "Supriyadi Wijaya" };
    const key = await addKey("resident:verify");
    for (let n = 0; n < 9; n++) await verify(wrong(nik));
    for (let n = 0; n < 12; n++) expect((await verify(right, n % 2 ? key : undefined)).status).toBe(200);
    expect((await verify(wrong(nik))).status).toBe(200);
    expect((await verify(right)).status).toBe(429);
  });

  test("of a partner is shared by its concurrent callers, whatever the numbers", async () => {
    await admin(
      (sql) => sql`
        insert into resident.failed_verification (partner_id, nik_digest)
        select 'demo', sha256(n::text::bytea) from generate_series(1, 995) n`,
    );
    const guesses = Array.from({ length: 20 }, (_, n) => verify(wrong(String(BigInt(unknown) + BigInt(n)))));
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    const key = await addKey("resident:verify");
    expect((await verify(wrong(nik), key)).status).toBe(200);
  });

  test("leaves a log line with the partner, for the alarm", async () => {
    for (let n = 0; n < 11; n++) await verify(wrong(nik));
    expect(
      own
        .logged()
        .filter(({ message }) => message === "too many guesses")
        .at(-1),
    ).toMatchObject({
      level: "warn",
      partner_id: "demo",
      key_id: expect.stringMatching(/^key_/),
    });
  });
});

test("each request is audited with the answers, and with the number as an HMAC", async () => {
  const claims = { p_nik: nik, p_no_kk: "9971011501809999", p_t_kec: "Sirimau" };
  const response = await verify({ ...claims, p_nama: "Orang Lain" });
  await verify(claims);
  const rows = await admin((sql) => sql`select * from audit.resident_read order by id desc limit 2`);
  const { pepper } = JSON.parse(own.city.secrets.find("municipal/local/audit-pepper")?.value ?? "{}");
  expect(rows).toEqual([
    expect.objectContaining({ row_count: 1, answers: { district: true, family_card_number: true } }),
    expect.objectContaining({
      partner_id: "demo",
      key_id: expect.stringMatching(/^key_/),
      request_id: response.headers.get("x-request-id"),
      route: "verify",
      row_count: 0,
      nik_digest: createHmac("sha256", pepper).update(nik).digest(),
      name_digest: null,
      pepper_version: 1,
      answers: { district: true, family_card_number: true, name: false },
    }),
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/9971011501800007|Orang|Sirimau/i);
});

test("no log contains a number or a name, also where the database fails", async () => {
  await verify({ p_nik: nik, p_nama: "Zulaikha Penanda", p_nama_ibu: "Markonah Penanda" });
  await verify({ p_nik: `${nik}1`, p_nama: "Zulaikha Penanda" });
  await admin((sql) => sql`alter table audit.resident_read add constraint broken check (false) not valid`);
  const failed = await verify({ p_nik: nik, p_nama: "Zulaikha Penanda" });
  await admin((sql) => sql`alter table audit.resident_read drop constraint broken`);
  expect(failed.status).toBe(500);
  expect(own.logged().some(({ status }) => status === 500)).toBe(true);
  expect(own.lines.join("\n")).not.toMatch(/99710115018000|SOEPRIJADI|Zulaikha|Markonah/i);
});
