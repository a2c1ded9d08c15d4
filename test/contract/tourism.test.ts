import { describe, expect, test } from "vitest";
import { when } from "./when.ts";

/** Tests that need the seeded data. */
describe("tourism", () => {
  const get = (path: string) => when({ method: "GET", path });

  test("lists all categories, active or not", async () => {
    const { status, json } = await get("/v1/pariwisata/kategori");
    expect([status, json.data.length]).toEqual([200, 6]);
    expect(json.data[0]).toEqual({ ktipe_id: "1", ktipe_nama: "Wisata Alam", ktipe_active: "1" });
    expect(json.data.at(-1).ktipe_active).toBe("0");
  });

  test("lists the photos of one destination only", async () => {
    const { status, json } = await get("/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,2)");
    expect([status, json.length]).toEqual([200, 5]);
    expect(json[0]).toEqual({
      id: 6,
      pr_id: "2",
      url_foto: "https://images.example/destinations/2/1.jpg",
      caption: "Gerbang di destinasi 2",
    });
  });
});
