import * as z from "zod/mini";
import { mintKey } from "#lib/partner/partner-keys.ts";
import type { Section } from "../case.ts";
import {
  expectHeader,
  expectInvalid,
  expectRefusal,
  expectRule,
  expectShape,
  expectStatus,
} from "../mismatch.ts";
import { Skipped } from "../skipped.ts";
import type { System } from "../system.ts";
import { list, listPath, needs, readNewest, readPage, searchPath } from "./resident-page.ts";

const wrongNumbers = [
  ...['"1"', "1.5", "null", "0", "-1", "true", "[1]", "{}", "9007199254740993"].map((value) => [
    "page_number",
    value,
  ]),
  ...['"10"', "0", "101", "1e400", "null"].map((value) => ["page_size", value]),
] as [string, string][];

/** Part of the message, and the bodies that get it. */
const wrongBodies: [string, string[]][] = [
  ["must be a JSON object", ["[]", '"text"', "null", "7", "true"]],
  ["The body is not valid JSON", ["{", "{'a':1}", '{"page_number":1}}', "page_number=1", "\u0000"]],
  ["__proto__", ['{"__proto__":{"page_size":1}}', '{"constructor":{"prototype":{"page_size":1}}}']],
];

const maskedNumber = z.string().check(z.regex(/^\d{4}\*{10}\d{2}$/));
const Residents = z.object({
  data: z.array(
    z.strictObject({
      nik_alt: maskedNumber,
      nama: z.string(),
      nama_ibu_alt: z.string().check(z.regex(/^\s*(\S\*\*\*\s*)*$/u)),
      no_kk_alt: maskedNumber,
      alamat_alt: z.string().check(z.regex(/^.{0,4}\*{6}$/su)),
      t_dusun_lingkungan: z.string(),
      t_desakel: z.string(),
      t_kec: z.string(),
      t_kabkota: z.string(),
      created_at: z.string(),
    }),
  ),
});
const Times = z.object({
  data: z.array(
    z.object({ created_at: z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/)) }),
  ),
});
const Envelope = z.strictObject({ data: z.array(z.unknown()), total: z.int(), page: z.int() });

export const residentList: Section = {
  title: "Resident: access and list",
  cases: [
    {
      name: "answers 401 with a challenge to requests without an active key, before it reads the body",
      needs: [],
      fix: "Check the api-key authorizer of both routes, and the gateway responses UNAUTHORIZED and INVALID_API_KEY with WWW-Authenticate in infra/aws/integration-api.ts.",
      check: async (system) => {
        const wrong = mintKey();
        const callers: [string, string, Record<string, string>][] = [
          ["no key", "", {}],
          ["an empty key", "", { apikey: "" }],
          ["an unknown key", "", { apikey: wrong }],
          ["a key in the query", `?apikey=${wrong}`, {}],
          ["a bearer token", "", { authorization: `Bearer ${wrong}` }],
        ];
        for (const path of [listPath, searchPath])
          for (const [about, query, headers] of callers) {
            const answer = await system.ask({ path: path + query, about, headers, body: "{" });
            expectRefusal(answer, 401, "unauthorized");
            expectHeader(answer, "www-authenticate", /^Bearer .*, ApiKey /);
          }
      },
    },
    ...([[], needs] as const).map((needed) => ({
      name: `answers 404 in JSON to another method or path ${needed.length > 0 ? "with" : "without"} a key`,
      needs: needed,
      fix: "Check the gateway response MISSING_AUTHENTICATION_TOKEN in infra/aws/integration-api.ts; its default is 403.",
      check: async ({ ask }: System) => {
        const as = needed.length > 0 ? ({ as: "partner" } as const) : {};
        for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
          for (const path of [listPath, searchPath])
            expectRefusal(await ask({ ...as, method, path }), 404, "not_found");
        for (const path of ["/v1/penduduk/", "/v1/Penduduk", "/v2/penduduk", "/v1/penduduk/search/x"])
          expectRefusal(await ask({ ...as, path }), 404, "not_found");
      },
    })),
    {
      name: "returns the first ten rows for {} and for no body",
      needs,
      fix: "Search the log of resident-list for the request id. A 500 usually comes from the database or its secret.",
      check: async (system) => {
        for (const answer of [
          await list(system, {}, "{}"),
          await list(system),
          await list(system, undefined, "a content type without a body", { "content-type": "text/plain" }),
        ]) {
          const { data, total, page } = readPage(answer);
          expectRule(
            answer,
            data.length === Math.min(10, total),
            "10 rows, or all if there are fewer",
            `${data.length} of ${total}`,
          );
          expectRule(answer, page === 1, "page 1", `page ${page}`);
        }
      },
    },
    {
      name: "returns exactly the ten fields, and masks all but name and areas",
      needs,
      fix: "The database masks the values: check that all migrations have run and that the function reads by resident.list.",
      check: async (system) => void expectShape((await readNewest(system, 100)).answer, Residents),
    },
    {
      name: "returns local time with microseconds and without a zone",
      needs,
      fix: "Check resident.mask in lib/db/functions/resident, which formats created_at. JavaScript dates would lose the microseconds.",
      check: async (system) => void expectShape((await readNewest(system, 100)).answer, Times),
    },
    {
      name: "returns total and page as JSON integers, and the requested page",
      needs,
      fix: "Check lib/resident/reader.ts: the database driver returns a bigint as text.",
      check: async (system) => {
        const answer = await list(system, { page_number: 3, page_size: 1 }, "page 3");
        expectStatus(answer, 200);
        const { page } = expectShape(answer, Envelope);
        expectRule(answer, page === 3, "page 3", `page ${page}`);
      },
    },
    {
      name: "lists newest first, across pages",
      needs,
      fix: "Check the order of resident.read_list in lib/db/functions/resident.",
      check: async (system) => {
        const times: string[] = [];
        for (const page_number of [1, 2, 3]) {
          const answer = await list(system, { page_number, page_size: 5 }, `page ${page_number}`);
          times.push(...readPage(answer).data.map(({ created_at }) => created_at));
          const sorted = times.every((time, i) => i === 0 || time <= (times[i - 1] ?? ""));
          expectRule(answer, sorted, "created_at never later than in the row before");
        }
        if (times.length < 2) throw new Skipped("there are fewer than two residents");
      },
    },
    {
      name: "returns no rows and the true total past the last page",
      needs,
      fix: "Check resident.read_list in lib/db/functions/resident: the total must not depend on the page.",
      check: async (system) => {
        const { total } = await readNewest(system, 1);
        const answer = await list(
          system,
          { page_number: Number.MAX_SAFE_INTEGER },
          "the largest page number",
        );
        const past = readPage(answer);
        expectRule(answer, past.data.length === 0, "no rows", `${past.data.length}`);
        // rows may be added meanwhile
        expectRule(answer, past.total >= total, `a total of ${total}, or more`, String(past.total));
      },
    },
    {
      name: "rejects a page number or size that is quoted, fractional, null or out of range",
      needs,
      fix: "Check the paging schema in lib/routes/resident.ts.",
      check: async (system) => {
        for (const [field, value] of wrongNumbers)
          expectInvalid(
            await list(system, `{"${field}":${value}}`, `${field} ${value}`),
            field,
            `${field} must be a whole number ${field === "page_size" ? "from 1 to 100" : "of at least 1"}, without quotes`,
          );
      },
    },
    {
      name: "rejects a body that is not a JSON object or sets a prototype, and other content types",
      needs,
      fix: "Check lib/http/body.ts.",
      check: async (system) => {
        for (const [words, bodies] of wrongBodies)
          for (const body of bodies) expectInvalid(await list(system, body, body), undefined, words);
        const form = await list(system, new URLSearchParams({ page_size: "1" }), "a form");
        expectInvalid(form, undefined, "application/json");
      },
    },
    {
      name: "answers 413 to a body over 64 KB",
      needs,
      fix: "Check lib/http/body.ts.",
      check: async (system) =>
        expectRefusal(await list(system, `{${" ".repeat(66_000)}`, "66 KB"), 413, "payload_too_large"),
    },
    {
      name: "ignores database credentials in the body",
      needs,
      fix: "Check lib/routes/resident.ts: only the paging fields should be read.",
      check: async (system) => {
        const credentials = { host: "10.0.0.1", username: "x", password: "x", database: "x" };
        readPage(await list(system, { ...credentials, page_size: 1 }, "database credentials"));
      },
    },
    {
      name: "is not cached, and sends no CORS headers",
      needs,
      fix: "Check lib/http/endpoint.ts, and whether a proxy in front of the API changes headers.",
      check: async (system) => {
        const answer = await list(system, { page_size: 1 }, "an origin", { origin: "https://app.example" });
        expectHeader(answer, "cache-control", /^no-store$/);
        expectHeader(answer, "access-control-allow-origin", undefined);
      },
    },
  ],
};
