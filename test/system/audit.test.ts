import { createHmac } from "node:crypto";
import postgres from "postgres";
import { expect, test } from "vitest";
import { useOwnCity } from "../steps/city/own-city.ts";

const own = useOwnCity();
const nik = "9971011234567890";
const name = "Rahasia Sekali";

const auditRows = async (work: () => Promise<unknown>) => {
  const sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
  try {
    const [before] = await sql`select coalesce(max(id), 0) as id from audit.resident_read`;
    await work();
    return await sql`select * from audit.resident_read where id > ${before?.id} order by id`;
  } finally {
    await sql.end();
  }
};

const pepper = () => JSON.parse(own.city.secrets.find("municipal/local/audit-pepper")?.value ?? "{}");
const digest = (term: string) => createHmac("sha256", pepper().pepper).update(term).digest();

test("each read adds one row with partner, key, route, count and request id", async () => {
  let requestId: string | null = null;
  const rows = await auditRows(async () => {
    requestId = (await own.ask("/v1/penduduk", { page_size: 7 })).headers.get("x-request-id");
  });
  expect(rows).toEqual([
    expect.objectContaining({
      partner_id: "demo",
      key_id: expect.stringMatching(/^key_/),
      route: "list",
      row_count: 7,
      request_id: requestId,
      nik_digest: null,
      name_digest: null,
    }),
  ]);
});

test("a search is audited by the HMAC of its terms, which is the same for the same person, never by the terms", async () => {
  let requestId: string | null = null;
  const rows = await auditRows(async () => {
    const response = await own.ask("/v1/penduduk/search", { p_nik: nik, p_nama: name });
    requestId = response.headers.get("x-request-id");
    await own.ask("/v1/penduduk/search", { p_nama: name.toUpperCase() });
  });
  expect(rows).toEqual([
    expect.objectContaining({
      partner_id: "demo",
      key_id: expect.stringMatching(/^key_/),
      route: "search",
      row_count: 0,
      request_id: requestId,
      nik_digest: digest(nik),
      name_digest: digest(name.toLowerCase()),
      pepper_version: 1,
    }),
    expect.objectContaining({ nik_digest: null, name_digest: digest(name.toLowerCase()) }),
  ]);
  expect(rows[0]?.name_digest).toEqual(rows[1]?.name_digest);
  expect(JSON.stringify(rows)).not.toMatch(/9971011234567890|rahasia/i);
});

test("a rejected request adds no row", async () => {
  const rows = await auditRows(() => own.ask("/v1/penduduk/search", { p_nik: "1" }));
  expect(rows).toEqual([]);
});

test("no log contains search terms, a key, password or pepper", async () => {
  await own.ask("/v1/penduduk/search", { p_nik: nik, p_nama: name });
  await own.ask("/v1/penduduk/search", { p_nik: `${nik}0`, p_nama: name });
  await own.ask(`/v1/pariwisata/destinasi/galeri?where=${nik}`);
  const sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
  await sql.unsafe("alter table audit.resident_read add constraint broken check (false) not valid");
  await own.ask("/v1/penduduk/search", { p_nik: nik, p_nama: name });
  await sql.unsafe("alter table audit.resident_read drop constraint broken");
  await sql.end();
  const secrets = [own.city.apiKey, pepper().pepper, JSON.parse(secretOf("resident")).password];
  const text = own.lines.join("\n");
  expect(own.logged().some(({ status }) => status === 500)).toBe(true);
  for (const planted of [nik, name, "Rahasia", ...secrets]) expect(text).not.toContain(planted);
});

const secretOf = (role: string) => own.city.secrets.find(`municipal/local/database/${role}`)?.value ?? "{}";
