import { describe, expect, test } from "vitest";
import { ways, when } from "../steps/when.ts";

describe.each(ways)("tourism, %s", (way) => {
  const ask = when(way);
  const get = (path: string, headers = {}) => ask({ method: "GET", path, headers });
  const gallery = (query: string) => get(`/v1/pariwisata/destinasi/galeri${query}`);

  test("lists the categories with three string fields each, active or not", async () => {
    const { status, json } = await get("/v1/pariwisata/kategori");
    expect([status, Object.keys(json), json.data.length]).toEqual([200, ["data"], 6]);
    expect(json.data[0]).toEqual({ ktipe_id: "1", ktipe_nama: "Wisata Alam", ktipe_active: "1" });
    expect(json.data.at(-1).ktipe_active).toBe("0");
  });

  test("lists the photos of one destination as a bare array", async () => {
    const { status, json } = await gallery("?where=(pr_id,eq,2)");
    expect([status, json.length]).toEqual([200, 5]);
    expect(json[0]).toEqual({
      id: 6,
      pr_id: "2",
      url_foto: "https://images.example/destinations/2/1.jpg",
      caption: "Gerbang di destinasi 2",
    });
  });

  test("answers an empty array for an unknown destination", async () =>
    expect((await gallery("?where=(pr_id,eq,404)")).text).toBe("[]"));

  test("reads a percent-encoded filter", async () =>
    expect((await gallery("?where=%28pr_id%2Ceq%2C2%29")).json.length).toBe(5));

  test.each([
    "",
    "?where=",
    "?where",
    "?where=()",
    "?where=(pr_id,eq)",
    "?where=(pr_id,eq,)",
    "?where=(pr_id,eq,%20)",
    "?where=(id,eq,2)",
    "?where=(pr_id,ne,2)",
    "?where=(pr_id,EQ,2)",
    "?where=(pr_id,eq,2",
    "?where=pr_id,eq,2)",
    "?where=((pr_id,eq,2))",
    "?where=(pr_id,eq,(2))",
    "?where=(pr_id,eq,2)~or(pr_id,eq,3)",
    "?where=(pr_id,eq,2,3)",
    "?where=(pr_id,eq,2)%0a",
    "?where=(pr_id,eq,%00)",
    `?where=(pr_id,eq,${"9".repeat(65)})`,
    "?where=(pr_id,eq,2)&where=(pr_id,eq,3)",
    "?WHERE=(pr_id,eq,2)",
  ])("refuses %j and shows the right form", async (query) => {
    const { status, json } = await gallery(query);
    expect([status, json.errors[0].field]).toEqual([400, "where"]);
    expect(json.message).toMatch(/given once/);
  });

  test("may be kept by anyone for a while, and is confirmed by its tag", async () => {
    const first = await get("/v1/pariwisata/kategori");
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("public, max-age=300");
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await get("/v1/pariwisata/kategori", { "if-none-match": tag });
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await get("/v1/pariwisata/kategori", { "if-none-match": '"other"' })).status).toBe(200);
  });

  test("may be read by a page of any origin, an error too, which is not kept", async () => {
    for (const path of ["/v1/pariwisata/kategori", "/v1/pariwisata/destinasi/galeri"]) {
      const { headers, status } = await get(path, { origin: "https://app.example" });
      expect(headers.get("access-control-allow-origin")).toBe("*");
      if (status === 400) expect(headers.get("cache-control")).toBe("no-store");
    }
  });
});
