import { expect, test } from "vitest";
import type { KeyTerms } from "#lib/partner/partner-keys.ts";
import { useOwnCity, withCityDatabase } from "../steps/city/own-city.ts";
import { partnersOf } from "../steps/residents/partners.ts";

const own = useOwnCity();
const admin = withCityDatabase(own);
const { addPartner, post } = partnersOf(own);

const addKey = async (terms: Partial<KeyTerms> = {}) => (await addPartner({}, terms)).key;

const reads = {
  "": {},
  "/search": { p_nama: "siti" },
  "/verify": { p_nik: "0071011501800008", p_nama: "Siti" },
} as const;
type Path = keyof typeof reads;
const paths = Object.keys(reads) as Path[];

const ask = async (path: Path, key: string, headers: Record<string, string> = {}) => {
  const response = await post(key, path, reads[path], headers);
  const { errors = [] } = (await response.json()) as { errors?: { field: string; message: string }[] };
  return { status: response.status, errors };
};

const lastAudit = async () => {
  const [row] = await admin(
    (sql) => sql`
      select route, purpose, case_reference, user_reference from audit.resident_read order by id desc limit 1`,
  );
  return row;
};

test.each(paths)(
  "/v1/penduduk%s is 400 without a purpose of the agreement, and lists its codes",
  async (path) => {
    const key = await addKey({ purposes: ["tax", "health-insurance"] });
    const before = await lastAudit();
    for (const headers of [
      {},
      { "x-purpose": "" },
      { "x-purpose": "Tax" },
      { "x-purpose": "tax, health-insurance" },
      { "x-purpose": "9971011501800007" },
    ]) {
      const { status, errors } = await ask(path, key, headers);
      expect([status, errors]).toEqual([
        400,
        [{ field: "x-purpose", message: expect.stringMatching(/as one of tax, health-insurance$/) }],
      ]);
    }
    expect(await lastAudit()).toEqual(before);
  },
);

test.each(paths)("/v1/penduduk%s stores purpose, case and user in the audit", async (path) => {
  const key = await addKey({ purposes: ["tax", "health-insurance"] });
  const headers = { "x-purpose": "tax", "x-case": "Case 2025/0042", "X-User": "~clerk-17!" };
  expect((await ask(path, key, headers)).status).toBe(200);
  expect(await lastAudit()).toMatchObject({
    purpose: "tax",
    case_reference: "Case 2025/0042",
    user_reference: "~clerk-17!",
  });
});

test("where no agreement requires a purpose, a well-formed one is stored and another is 400", async () => {
  const key = await addKey();
  expect((await ask("", key)).status).toBe(200);
  expect(await lastAudit()).toMatchObject({ purpose: null, case_reference: null, user_reference: null });
  expect((await ask("", key, { "x-purpose": "school_2025.a" })).status).toBe(200);
  expect(await lastAudit()).toMatchObject({ purpose: "school_2025.a" });
  for (const purpose of ["a b", "x".repeat(41), "n9971011501800007", "-"]) {
    const { status, errors } = await ask("", key, { "x-purpose": purpose });
    expect([status, errors[0]?.field]).toEqual([400, "x-purpose"]);
  }
});

test("a case and a user that are too long, not ASCII or like a number of a person are 400, both at once", async () => {
  const key = await addKey();
  for (const wrong of ["x".repeat(101), "caf\u00e9", "no. 997101150180000"]) {
    const { status, errors } = await ask("", key, { "x-case": wrong, "x-user": wrong });
    expect([wrong, status, errors.map(({ field }) => field)]).toEqual([wrong, 400, ["x-case", "x-user"]]);
  }
  expect((await ask("", key, { "x-case": "no. 99710115018000" })).status).toBe(200);
});

test("a stored purpose that is changed breaks the audit's seal", async () => {
  await ask("", await addKey(), { "x-purpose": "tax" });
  const problems = await admin(async (sql) => {
    await sql`select * from audit.seal_reads(audit.find_settled_id(), 1000000, 1)`;
    const verify = async () =>
      (await sql<{ problem: string | null }[]>`select problem from audit.verify_seals(0, 100)`).at(-1)
        ?.problem;
    const found = [await verify()];
    for (const column of ["purpose", "case_reference", "user_reference"]) {
      const [{ id, was }] = (await sql.unsafe(
        `select max(id) as id, (array_agg(${column} order by id desc))[1] as was from audit.resident_read`,
      )) as unknown as [{ id: string; was: string | null }];
      await sql.unsafe(`update audit.resident_read set ${column} = 'forged' where id = $1`, [id]);
      found.push(await verify());
      await sql.unsafe(`update audit.resident_read set ${column} = $2 where id = $1`, [id, was]);
    }
    return found;
  });
  const changed = "its rows were changed";
  expect(problems).toEqual([null, changed, changed, changed]);
});
