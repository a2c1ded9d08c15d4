import { createHash } from "node:crypto";
import * as z from "zod";
import { database } from "./database.ts";
import { type Duty, describePlainly, Problem } from "./duty.ts";

const count = (field: string, maximum: number, range: string, fallback: number) => {
  const error = `${field} must be a whole number ${range}, without quotes, for example ${fallback}`;
  return z.int({ error }).min(1, { error }).max(maximum, { error }).default(fallback);
};

const Page = z.object(
  {
    page_number: count("page_number", Number.MAX_SAFE_INTEGER, "of at least 1", 1),
    page_size: count("page_size", 100, "from 1 to 100", 10),
  },
  { error: 'The body must be a JSON object, for example {"page_number": 1}' },
);

interface Partner {
  partnerId: string;
  keyId: string;
  scopes: string;
}

interface Found {
  total: number;
  residents: Readonly<Record<string, string>>[];
}

const authenticate = async (header: (name: string) => string | undefined): Promise<Partner> => {
  const key = header("apikey") ?? "";
  if (!/^mia_[\w-]{43}$/.test(key)) throw new Problem(401, "unauthorized", "The API key is missing or wrong");
  const sql = await database;
  const [partner] = await sql<Partner[]>`
    select partner_id as "partnerId", key_id as "keyId", scopes
    from partner.authenticate(${createHash("sha256").update(key).digest()})`;
  if (!partner) throw new Problem(401, "unauthorized", "The API key is missing or wrong");
  if (!partner.scopes.split(" ").includes("resident:read"))
    throw new Problem(403, "forbidden", "The API key lacks the scope resident:read");
  return partner;
};

const toWire = (resident: Readonly<Record<string, string>>) => ({
  nik_alt: resident.nik,
  nama: resident.name,
  nama_ibu_alt: resident.motherName,
  no_kk_alt: resident.familyCardNumber,
  alamat_alt: resident.address,
  t_dusun_lingkungan: resident.hamlet,
  t_desakel: resident.village,
  t_kec: resident.district,
  t_kabkota: resident.city,
  created_at: resident.createdAt,
});

/** Lists residents, newest first; the database masks them and audits the read. */
export const duty: Duty<z.infer<typeof Page>, Partner> = {
  name: "resident/list",
  method: "POST",
  path: "/v1/penduduk",
  maxBodyBytes: 64 * 1024,
  body: Page,
  authenticate,
  describe: describePlainly,
  async answer({ body, caller, requestId }) {
    const sql = await database;
    const [found] = await sql<Found[]>`
      select total, residents from resident.list(
        ${body.page_number}, ${body.page_size}, ${caller.partnerId}, ${caller.keyId}, ${requestId})`;
    if (!found) throw new Error("the reading function returned no row");
    return { data: found.residents.map(toWire), total: found.total, page: body.page_number };
  },
};
