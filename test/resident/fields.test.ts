import { beforeAll, expect, test } from "vitest";
import { ResidentRecord } from "#lib/routes/resident.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { partnersOf } from "../steps/residents/partners.ts";

const own = useOwnCity();
const { addPartner, post } = partnersOf(own);
const names = Object.keys(ResidentRecord.shape);
type Shown = Record<string, string | null>;

const addKey = (...fields: string[]) => addPartner({}, { fields });

const read = async (path: string, body: object, key = own.city.apiKey): Promise<Shown[]> => {
  const response = await post(key, path, body);
  return ((await response.json()) as { data: Shown[] }).data;
};

/** Reads of the same residents: the list, and searches by name and by number. */
const reads: [string, object][] = [
  ["", { page_size: 5 }],
  ["/search", { p_nama: "a", page_size: 5 }],
];
beforeAll(async () => {
  const [row] = await withCityDatabase(own)(
    (sql) => sql<{ nik: string }[]>`select nik from resident.resident limit 1`,
  );
  reads.push(["/search", { p_nik: row?.nik }]);
});

test("list and search show the fields of the agreement, and null for each other one", async () => {
  for (const field of names) {
    const { key } = await addKey(field);
    for (const [path, body] of reads) {
      if ("p_nama" in body && field !== "nama") continue; // rejected
      const all = await read(path, body);
      expect(all.length).toBeGreaterThan(0);
      expect(all.flatMap(Object.values)).not.toContain(null);
      const expected = all.map((row) =>
        Object.fromEntries(names.map((name) => [name, name === field ? row[name] : null])),
      );
      expect(await read(path, body, key)).toEqual(expected);
    }
  }
});

test("a key without agreed fields shows all of them", async () => {
  const { key } = await addKey();
  for (const [path, body] of reads) expect(await read(path, body, key)).toEqual(await read(path, body));
});

test.each([{ p_nama: "a" }, { p_nama: "a", p_nik: "9971012345670004" }])(
  "a key without the field nama cannot search by name, whose totals would tell it: %j",
  async (body) => {
    const { key } = await addKey("t_desakel");
    const response = await post(key, "/search", body);
    const { message } = (await response.json()) as { message: string };
    expect([response.status, message]).toEqual([403, expect.stringContaining("field nama")]);
  },
);

test("the database knows the fields of a key: the function cannot ask for others", async () => {
  const { keyId, name } = await addKey("t_desakel", "t_kec");
  const sql = own.city.database.connectAs("resident");
  const [row] = await sql<{ residents: Shown[] }[]>`
    select residents from resident.list(1, 3, ${name}, ${keyId}, 'r')`;
  await sql.end();
  const shown = row?.residents.map((resident) =>
    Object.keys(resident).filter((field) => resident[field] !== null),
  );
  expect(shown).toEqual(Array.from({ length: 3 }, () => ["village", "district"]));
});

test("a key that the partner does not have shows no field", async () => {
  const [one, other] = [await addKey("t_kec"), await addKey()];
  const sql = own.city.database.connectAs("resident");
  const show = async (partner: string, key: string) => {
    const [row] = await sql<{ residents: Shown[] }[]>`
      select residents from resident.list(1, 1, ${partner}, ${key}, 'r')`;
    return row?.residents.flatMap(Object.values);
  };
  const nothing = names.map(() => null);
  expect(await show(one.name, other.keyId)).toEqual(nothing);
  expect(await show(one.name, "key_0000000000")).toEqual(nothing);
  expect(await show(other.name, other.keyId)).not.toContain(null);
  await sql.end();
});

test("fields that the contract does not have are rejected by the database", async () =>
  await expect(addKey("nama", "nik")).rejects.toMatchObject({ code: "23514" }));
