import { describe, expect, inject, test } from "vitest";
import { connectFor } from "../steps/connections.ts";
import { fixtures, seededResidents } from "../steps/residents/resident-fixtures.ts";
import { when } from "./when.ts";

const total = seededResidents + fixtures.length;
describe("POST /v1/penduduk", () => {
  const list = (body?: unknown, headers = {}) => when({ path: "/v1/penduduk", body, headers });

  test("returns each row once, newest first, across all pages", async () => {
    const sql = connectFor("adminUrl");
    const expected = await sql`
      select name, to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US') as time
      from resident.resident order by created_at desc, id desc`;
    const seen: string[] = [];
    for (let page = 1; seen.length < total; page += 1) {
      const { json } = await list({ page_number: page, page_size: 7 });
      expect(json.total).toBe(total);
      expect(json.data.length).toBe(Math.min(7, total - seen.length));
      for (const { nama, created_at } of json.data) seen.push(`${nama} ${created_at}`);
    }
    expect(seen).toEqual(expected.map(({ name, time }) => `${name} ${time}`));
  });

  test("returns no rows and the true total past the last page", async () => {
    for (const page of [100, Number.MAX_SAFE_INTEGER]) {
      const { status, json } = await list({ page_number: page });
      expect([status, json]).toEqual([200, { data: [], total, page }]);
    }
  });

  test("keeps microseconds and a zero fraction, without a time zone", async () => {
    const { json } = await list({ page_size: 2 });
    expect(json.data.map((record: { created_at: string }) => record.created_at)).toEqual([
      "2025-07-01T03:04:05.000007",
      "2025-07-01T03:04:05.000000",
    ]);
  });

  test("masks numbers, the mother's name and the address", async () => {
    const { json } = await when({ path: "/v1/penduduk/search", body: { p_nik: "9999010101000007" } });
    expect(json.data[0]).toMatchObject({
      nik_alt: "9999**********07",
      nama: "Masked Person",
      nama_ibu_alt: "I***  S*** É***",
      no_kk_alt: "9999**********99",
      alamat_alt: "JL******",
    });
  });

  test("names every wrong field at once", async () => {
    const { json } = await list({ page_number: "1", page_size: "2" });
    expect(json.errors.map(({ field }: { field: string }) => field)).toEqual(["page_number", "page_size"]);
  });

  test("survives deeply nested JSON", async () => {
    const depth = 30_000;
    const { status } = await list(`{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    expect([200, 400]).toContain(status);
  });

  test("accepts the content type in any case and with parameters", async () => {
    const body = JSON.stringify({ page_size: 1 });
    const { json } = await list(body, { "content-type": "Application/JSON; charset=utf-8" });
    expect(json.data.length).toBe(1);
  });
});

test("the running city has a demo key", () => expect(inject("city").apiKey).toMatch(/^mia_/));
