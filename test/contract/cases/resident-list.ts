import * as z from "zod/mini";
import { mintKey } from "#lib/partner/api-key.ts";
import type { Section } from "../case.ts";
import {
  expectHeader,
  expectInvalid,
  expectRefusal,
  expectRule,
  expectShape,
  expectStatus,
} from "../mismatch.ts";
import { NotAsked } from "../not-asked.ts";
import type { System } from "../system.ts";
import { list, listPath, needs, readNewest, readPage, searchPath } from "./resident-page.ts";

const wrongNumbers = [
  ...['"1"', "1.5", "null", "0", "-1", "true", "[1]", "{}", "9007199254740993"].map((value) => [
    "page_number",
    value,
  ]),
  ...['"10"', "0", "101", "1e400", "null"].map((value) => ["page_size", value]),
] as [string, string][];

/** What the message says, and the bodies that it is said of. */
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
      name: "answers 401 and a challenge without an active key, before it looks at the body",
      needs: ["gateway"],
      mend: "the api-key authorizer of both routes, and the gateway responses UNAUTHORIZED and INVALID_API_KEY with WWW-Authenticate: infra/aws/integration-api.ts",
      check: async (system) => {
        const wrong = mintKey();
        const callers: [string, string, Record<string, string>][] = [
          ["no key", "", {}],
          ["an empty key", "", { apikey: "" }],
          ["a key that nobody has", "", { apikey: wrong }],
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
      name: `answers 404 in JSON to another method or address ${needed.length > 0 ? "with" : "without"} a key`,
      needs: ["gateway", ...needed] as const,
      mend: "the gateway response MISSING_AUTHENTICATION_TOKEN, which is 403 unless set: infra/aws/integration-api.ts",
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
      name: "answers the first ten rows to {} and to no body at all",
      needs,
      mend: "see the log of resident-list by the request id; a 500 is most often the database or its secret",
      check: async (system) => {
        for (const answer of [
          await list(system, {}, "{}"),
          await list(system),
          await list(system, undefined, "no body but a type", { "content-type": "text/plain" }),
        ]) {
          const { data, total, page } = readPage(answer);
          expectRule(
            answer,
            data.length === Math.min(10, total),
            "10 rows, or all where there are fewer",
            `${data.length} of ${total}`,
          );
          expectRule(answer, page === 1, "page 1", `page ${page}`);
        }
      },
    },
    {
      name: "shows exactly the ten fields, and masks all but name and areas",
      needs,
      mend: "the masks are made in the database: were all migrations run, and does the function read by resident.list?",
      check: async (system) => void expectShape((await readNewest(system, 100)).answer, Residents),
    },
    {
      name: "shows the city's own time, with microseconds and without zone",
      needs,
      mend: "resident.mask in lib/db/migrations writes created_at; JSON dates of JavaScript would lose microseconds",
      check: async (system) => void expectShape((await readNewest(system, 100)).answer, Times),
    },
    {
      name: "gives total and page as JSON integers, and the page that was asked for",
      needs,
      mend: "a driver gives a bigint as text: lib/resident/reader.ts",
      check: async (system) => {
        const answer = await list(system, { page_number: 3, page_size: 1 }, "page 3");
        expectStatus(answer, 200);
        const { page } = expectShape(answer, Envelope);
        expectRule(answer, page === 3, "page 3", `page ${page}`);
      },
    },
    {
      name: "lists newest first, over pages too",
      needs,
      mend: "the order of resident.read_list in lib/db/migrations",
      check: async (system) => {
        const times: string[] = [];
        for (const page_number of [1, 2, 3]) {
          const answer = await list(system, { page_number, page_size: 5 }, `page ${page_number}`);
          times.push(...readPage(answer).data.map(({ created_at }) => created_at));
          const sorted = times.every((time, i) => i === 0 || time <= (times[i - 1] ?? ""));
          expectRule(answer, sorted, "created_at never later than in the row before");
        }
        if (times.length < 2) throw new NotAsked("there are fewer than two residents");
      },
    },
    {
      name: "answers no rows and the true total past the end",
      needs,
      mend: "resident.read_list in lib/db/migrations: the total does not depend on the page",
      check: async (system) => {
        const { total } = await readNewest(system, 1);
        const answer = await list(
          system,
          { page_number: Number.MAX_SAFE_INTEGER },
          "the last page number there is",
        );
        const past = readPage(answer);
        expectRule(answer, past.data.length === 0, "no rows", `${past.data.length}`);
        // rows may be added while it is asked
        expectRule(answer, past.total >= total, `a total of ${total}, or more`, String(past.total));
      },
    },
    {
      name: "refuses a page number or size that is quoted, fractional, null or out of range",
      needs,
      mend: "the schema of paging in lib/routes/resident.ts",
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
      name: "refuses a body that is no JSON object, one that reaches for a prototype, and other content",
      needs,
      mend: "lib/http/json-body.ts",
      check: async (system) => {
        for (const [words, bodies] of wrongBodies)
          for (const body of bodies) expectInvalid(await list(system, body, body), undefined, words);
        const form = await list(system, new URLSearchParams({ page_size: "1" }), "a form");
        expectInvalid(form, undefined, "application/json");
      },
    },
    {
      name: "refuses a body over 64 KB as too large",
      needs,
      mend: "lib/http/body-limit.ts",
      check: async (system) =>
        expectRefusal(await list(system, `{${" ".repeat(66_000)}`, "66 KB"), 413, "payload_too_large"),
    },
    {
      name: "takes no notice of database credentials in the body",
      needs,
      mend: "lib/routes/resident.ts reads the paging alone",
      check: async (system) => {
        const credentials = { host: "10.0.0.1", username: "x", password: "x", database: "x" };
        readPage(await list(system, { ...credentials, page_size: 1 }, "database credentials"));
      },
    },
    {
      name: "is kept by no cache, and read by no page of another origin",
      needs,
      mend: "lib/http/endpoint.ts; a proxy before the API may have changed the headers",
      check: async (system) => {
        const answer = await list(system, { page_size: 1 }, "an origin", { origin: "https://app.example" });
        expectHeader(answer, "cache-control", /^no-store$/);
        expectHeader(answer, "access-control-allow-origin", undefined);
      },
    },
  ],
};
