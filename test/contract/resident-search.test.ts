import { describe, expect, test } from "vitest";
import { connectFor } from "../steps/connections.ts";
import { when } from "./when.ts";

describe("POST /v1/penduduk/search", () => {
  const search = (body?: unknown) => when({ path: "/v1/penduduk/search", body });
  const names = async (body: unknown): Promise<string[]> =>
    (await search(body)).json.data.map((record: { nama: string }) => record.nama);

  test("finds one resident by NIK", async () => {
    const { status, json } = await search({ p_nik: "9999010101000002" });
    expect([status, json.total, json.page, json.data[0].nama]).toEqual([200, 1, 1, "Micro Seconds"]);
  });

  test("returns no rows and the true total past the last page", async () => {
    for (const [term, total] of [
      [{ p_nik: "9999010101000002" }, 1],
      [{ p_nama: "kembar" }, 12],
      [{ p_nama: "%" }, 1],
    ] as const) {
      const { json } = await search({ ...term, page_number: 2, page_size: 12 });
      expect(json).toEqual({ data: [], total, page: 2 });
    }
  });

  test("treats a blank term as absent", async () => {
    expect(await names({ p_nik: "", p_nama: "micro sec" })).toEqual(["Micro Seconds"]);
    expect(await names({ p_nik: "9999010101000002", p_nama: " " })).toEqual(["Micro Seconds"]);
  });

  test("finds part of a name in any case", async () => {
    for (const p_nama of ["o seco", "MICRO", "micro seconds", " Micro "])
      expect(await names({ p_nama })).toEqual(["Micro Seconds"]);
  });

  test("ignores the case of letters beyond ASCII, composed or not", async () => {
    for (const p_nama of ["araújo élène", "ARAÚJO ÉLÈNE", "é".normalize("NFD")])
      expect(await names({ p_nama })).toEqual(["D'ARAÚJO ÉLÈNE"]);
  });

  test.each([
    ["%", "Hundred%Percent"],
    ["_", "Under_Score"],
    ["\\", "Back\\Slash"],
    ["d%p", "Hundred%Percent"],
  ])("treats %j literally", async (p_nama, name) => expect(await names({ p_nama })).toEqual([name]));

  test("applies both filters together", async () => {
    expect(await names({ p_nik: "9999010101000002", p_nama: "micro" })).toEqual(["Micro Seconds"]);
    expect((await search({ p_nik: "9999010101000002", p_nama: "zero" })).json).toEqual({
      data: [],
      total: 0,
      page: 1,
    });
  });

  test("returns each match once, newest first, across all pages", async () => {
    const sql = connectFor("adminUrl");
    const expected = await sql`
      select name from resident.resident where name ilike '%a%' order by created_at desc, id desc`;
    const seen: string[] = [];
    for (let page = 1; seen.length < expected.length; page += 1) {
      const { json } = await search({ p_nama: "A", page_number: page, page_size: 50 });
      expect([json.total, json.page]).toEqual([expected.length, page]);
      seen.push(...json.data.map((record: { nama: string }) => record.nama));
    }
    expect(seen).toEqual(expected.map(({ name }) => name));
  });

  test("pages through rows with equal times without losing any", async () => {
    const pages = [1, 2, 3, 4].map((page) => names({ p_nama: "kembar", page_number: page, page_size: 3 }));
    expect((await Promise.all(pages)).flat()).toEqual(
      Array.from({ length: 12 }, (_, i) => `KEMBAR ${11 - i}`),
    );
  });
});
