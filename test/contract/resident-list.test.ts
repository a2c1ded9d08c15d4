import { describe, expect, inject, test } from "vitest";
import { connectFor } from "../steps/connections.ts";
import { fixtures, seededResidents } from "../steps/residents.ts";
import { ways, when } from "../steps/when.ts";

const total = seededResidents + fixtures.length;
const keys = [
  ...["nik_alt", "nama", "nama_ibu_alt", "no_kk_alt", "alamat_alt"],
  ...["t_dusun_lingkungan", "t_desakel", "t_kec", "t_kabkota", "created_at"],
];

describe.each(ways)("POST /v1/penduduk, %s", (way) => {
  const ask = when(way);
  const list = (body?: unknown, headers = {}) => ask({ path: "/v1/penduduk", body, headers });

  test("answers the first ten rows to {}", async () => {
    const { status, json } = await list({});
    expect([status, json.data.length, json.total, json.page]).toEqual([200, 10, total, 1]);
  });

  test("answers the first ten rows to no body at all, whatever its Content-Type", async () => {
    for (const headers of [{}, { "content-type": "text/plain" }]) {
      const { status, json } = await list(undefined, headers);
      expect([status, json.data.length, json.page]).toEqual([200, 10, 1]);
    }
  });

  test("shows exactly the ten fields, all strings", async () => {
    const { json } = await list({ page_size: 100 });
    for (const record of json.data) {
      expect(Object.keys(record)).toEqual(keys);
      expect(Object.values(record).every((value) => typeof value === "string")).toBe(true);
    }
  });

  test("gives total and page as JSON integers", async () => {
    const { text } = await list({ page_number: 3 });
    expect(text).toContain(`"total":${total},"page":3`);
  });

  test("holds each row once, newest first, over all pages", async () => {
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

  test("answers no rows and the true total past the end", async () => {
    for (const page of [100, Number.MAX_SAFE_INTEGER]) {
      const { status, json } = await list({ page_number: page });
      expect([status, json]).toEqual([200, { data: [], total, page }]);
    }
  });

  test("keeps microseconds and a zero fraction, without a zone", async () => {
    const { json } = await list({ page_size: 2 });
    expect(json.data.map((record: { created_at: string }) => record.created_at)).toEqual([
      "2025-07-01T03:04:05.000007",
      "2025-07-01T03:04:05.000000",
    ]);
  });

  test("masks numbers, the mother's name and the address", async () => {
    const { json } = await ask({ path: "/v1/penduduk/search", body: { p_nik: "9999010101000007" } });
    expect(json.data[0]).toMatchObject({
      nik_alt: "9999**********07",
      nama: "Masked Person",
      nama_ibu_alt: "I***  S*** É***",
      no_kk_alt: "9999**********99",
      alamat_alt: "JL******",
    });
  });

  test.each([
    '{"page_number":"1"}',
    '{"page_number":1.5}',
    '{"page_number":null}',
    '{"page_number":0}',
    '{"page_number":-1}',
    '{"page_number":true}',
    '{"page_number":[1]}',
    '{"page_number":{}}',
    '{"page_number":9007199254740993}',
    '{"page_size":"10"}',
    '{"page_size":0}',
    '{"page_size":101}',
    '{"page_size":1e400}',
    '{"page_size":null}',
  ])("refuses %s with a message that names field and rule", async (body) => {
    const { status, json } = await list(body);
    const field = body.split('"')[1];
    expect([status, json.status, json.code]).toEqual([400, "error", "invalid_request"]);
    expect(json.message).toMatch(
      new RegExp(`^${field} must be a whole number from 1 (on|to 100), without quotes`),
    );
    expect(json.errors).toEqual([{ field, message: json.message }]);
  });

  test("names every wrong field at once", async () => {
    const { json } = await list({ page_number: "1", page_size: "2" });
    expect(json.errors.map(({ field }: { field: string }) => field)).toEqual(["page_number", "page_size"]);
  });

  test.each(["[]", '"text"', "null", "7", "true"])("refuses the body %s", async (body) => {
    const { status, json } = await list(body);
    expect([status, json.message]).toEqual([400, expect.stringContaining("must be a JSON object")]);
  });

  test.each(["{", "{'a':1}", '{"page_number":1}}', "page_number=1", "\u0000"])(
    "refuses malformed JSON %j",
    async (body) => {
      const { status, json } = await list(body);
      expect([status, json.message]).toEqual([400, "The body is not valid JSON"]);
    },
  );

  test("survives deeply nested JSON", async () => {
    const depth = 30_000;
    const { status } = await list(`{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`);
    expect([200, 400]).toContain(status);
  });

  test.each(['{"__proto__":{"page_size":1}}', '{"constructor":{"prototype":{"page_size":1}}}'])(
    "refuses %s",
    async (body) => {
      const { status, json } = await list(body);
      expect([status, json.message]).toEqual([400, expect.stringContaining("__proto__")]);
    },
  );

  test("refuses another content type than JSON", async () => {
    const { status, json } = await list("page_size=1", {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect([status, json.message]).toEqual([400, expect.stringContaining("application/json")]);
  });

  test("reads the content type in any case and with parameters", async () => {
    const body = JSON.stringify({ page_size: 1 });
    const { json } = await list(body, { "content-type": "Application/JSON; charset=utf-8" });
    expect(json.data.length).toBe(1);
  });

  test("refuses a body over 64 KB as too large before it looks inside", async () => {
    const { status, json } = await list(`{${" ".repeat(66_000)}`);
    expect([status, json.code]).toEqual([413, "payload_too_large"]);
  });

  test("takes no notice of database credentials in the body", async () => {
    const { status, json } = await list({
      host: "10.0.0.1",
      username: "x",
      password: "x",
      database: "x",
      page_size: 1,
    });
    expect([status, json.total]).toEqual([200, total]);
  });

  test("is not stored by caches and carries its request id", async () => {
    const { headers } = await list({});
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  test("repeats the request id in the body of an error", async () => {
    const { headers, json } = await list("{");
    expect(json.request_id).toBe(headers.get("x-request-id"));
  });
});

test("the running city has a demo key", () => expect(inject("city").apiKey).toMatch(/^mia_/));
