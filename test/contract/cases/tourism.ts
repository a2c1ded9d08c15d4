import * as z from "zod/mini";
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

const categoryPath = "/v1/pariwisata/kategori";
const galleryPath = "/v1/pariwisata/destinasi/galeri";

const Categories = z.strictObject({
  data: z.array(z.strictObject({ ktipe_id: z.string(), ktipe_nama: z.string(), ktipe_active: z.string() })),
});
const Gallery = z.array(
  z.strictObject({ id: z.int(), pr_id: z.literal("1"), url_foto: z.url(), caption: z.string() }),
);

const wrongFilters = [
  ...[
    "",
    "?where=",
    "?where",
    "?where=()",
    "?where=(pr_id,eq)",
    "?where=(pr_id,eq,)",
    "?where=(pr_id,eq,%20)",
  ],
  ...["?where=(id,eq,2)", "?where=(pr_id,ne,2)", "?where=(pr_id,EQ,2)", "?where=(pr_id,eq,2"],
  ...["?where=pr_id,eq,2)", "?where=((pr_id,eq,2))", "?where=(pr_id,eq,(2))", "?where=(pr_id,eq,2,3)"],
  ...["?where=(pr_id,eq,2)~or(pr_id,eq,3)", "?where=(pr_id,eq,2)%0a", "?where=(pr_id,eq,%00)"],
  `?where=(pr_id,eq,${"9".repeat(65)})`,
  ...["?where=(pr_id,eq,2)&where=(pr_id,eq,3)", "?WHERE=(pr_id,eq,2)"],
];

/** Those that tracing libraries, jQuery and scripts against caches add to a request of a page. */
const scriptHeaders = [
  ...["traceparent", "tracestate", "baggage", "sentry-trace", "x-requested-with", "cache-control"],
  ...["content-type", "if-none-match"],
];

const get = (system: System, path: string, query = "", headers: Record<string, string> = {}) =>
  system.ask({ method: "GET", path: `${path}${query}`, headers, about: query || "no query" });

export const tourism: Section = {
  title: "Tourism",
  cases: [
    {
      name: "lists the categories, with three string fields each",
      needs: [],
      fix: "Search the log of tourism-categories for the request id. A 500 usually comes from the database or its secret.",
      check: async (system) => {
        const answer = await get(system, categoryPath);
        expectStatus(answer, 200);
        const { data } = expectShape(answer, Categories);
        if (data.length === 0)
          throw new Skipped("there are no categories; run: npm run city -- import categories");
      },
    },
    {
      name: "lists the photos of a destination as a bare array",
      needs: [],
      fix: "Search the log of tourism-gallery for the request id; check the field types in lib/tourism/reader.ts.",
      check: async (system) => {
        for (const query of ["?where=(pr_id,eq,1)", "?where=%28pr_id%2Ceq%2C1%29"]) {
          const answer = await get(system, galleryPath, query);
          expectStatus(answer, 200);
          const photos = expectShape(answer, Gallery);
          if (photos.length === 0)
            throw new Skipped("destination 1 has no photos; run: npm run city -- import gallery");
        }
      },
    },
    {
      name: "returns an empty array for an unknown destination",
      needs: [],
      fix: "Check lib/tourism/reader.ts: an unknown destination is not an error.",
      check: async (system) => {
        const answer = await get(system, galleryPath, "?where=(pr_id,eq,no-such-destination)");
        expectStatus(answer, 200);
        expectRule(answer, answer.text === "[]", "[]", "something else");
      },
    },
    {
      name: "rejects any filter but (pr_id,eq,ID), and shows the right form",
      needs: [],
      fix: "Check the schema of `where` in lib/routes/tourism.ts.",
      check: async (system) => {
        for (const query of wrongFilters) expectInvalid(await get(system, galleryPath, query), "where");
      },
    },
    {
      name: "may be cached by anyone for 5 minutes, and is revalidated by ETag",
      needs: [],
      fix: "Check `cache` of the route in lib/routes/tourism.ts, and whether a proxy in front of the API removes ETag.",
      check: async (system) => {
        const first = await get(system, categoryPath);
        expectHeader(first, "cache-control", /^public, max-age=300$/);
        expectHeader(first, "etag", /^"/);
        const etag = first.headers.get("etag") ?? "";
        for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
          const again = await get(system, categoryPath, "", { "if-none-match": tag });
          expectStatus(again, 304);
          expectRule(again, again.text === "", "no body", "a body");
        }
        expectStatus(await get(system, categoryPath, "", { "if-none-match": '"other"' }), 200);
      },
    },
    {
      name: "may be read by pages of any origin, also errors, which are not cached",
      needs: [],
      fix: "Check `cors` of the route in lib/routes/tourism.ts.",
      check: async (system) => {
        const headers = { origin: "https://app.example" };
        const good = await get(system, categoryPath, "", headers);
        const bad = await get(system, galleryPath, "", headers);
        for (const answer of [good, bad]) expectHeader(answer, "access-control-allow-origin", /^\*$/);
        expectStatus(bad, 400);
        expectHeader(bad, "cache-control", /^no-store$/);
      },
    },
    {
      name: "has a request id in every response, and repeats it in the body of errors",
      needs: [],
      fix: "Check lib/http/endpoint.ts and infra/aws/integration-api.ts, and whether a proxy in front of the API removes the header.",
      check: async (system) => {
        expectHeader(await get(system, categoryPath), "x-request-id", /^[\w-]+$/);
        for (const path of [galleryPath, "/v1"]) {
          const answer = await get(system, path);
          expectHeader(answer, "x-request-id", /^[\w-]+$/);
          const same = answer.json?.request_id === answer.headers.get("x-request-id");
          expectRule(answer, same, "the request_id of the header", "another one or none");
        }
      },
    },
    {
      name: "answers a CORS preflight",
      needs: [],
      fix: "Check the preflight of routes with `cors` in infra/aws/stacks/api.ts.",
      check: async (system) => {
        const headers = { origin: "https://app.example", "access-control-request-method": "GET" };
        const answer = await system.ask({ method: "OPTIONS", path: categoryPath, headers });
        expectStatus(answer, 204);
        expectHeader(answer, "access-control-allow-origin", /^\*$/);
        expectHeader(answer, "access-control-allow-methods", /GET/);
        for (const name of scriptHeaders)
          expectHeader(answer, "access-control-allow-headers", new RegExp(`(^|,) ?${name}(,|$)`, "i"));
      },
    },
    {
      name: "answers HEAD like GET, without a body",
      needs: [],
      fix: "Check `head` of the route in lib/routes/tourism.ts.",
      check: async (system) => {
        const got = await get(system, categoryPath);
        const asked = await system.ask({ method: "HEAD", path: categoryPath });
        expectStatus(asked, 200);
        expectRule(asked, asked.text === "", "no body", "a body");
        for (const name of ["content-type", "cache-control", "etag"]) {
          const same = asked.headers.get(name) === got.headers.get(name);
          expectRule(asked, same, `the ${name} of GET`, `another ${name} or none`);
        }
        const headers = { "if-none-match": got.headers.get("etag") ?? "" };
        expectStatus(await system.ask({ method: "HEAD", path: categoryPath, headers }), 304);
      },
    },
    {
      name: "answers 404 to other methods, other spellings and unknown paths",
      needs: [],
      fix: "Check the gateway response MISSING_AUTHENTICATION_TOKEN in infra/aws/integration-api.ts; its default is 403.",
      check: async (system) => {
        const places = [
          ["POST", categoryPath],
          ["DELETE", galleryPath],
          ["GET", "/v1"],
          ["GET", `${categoryPath}/`],
          ["GET", "/v1/Pariwisata/kategori"],
          ["GET", "/v2/pariwisata/kategori"],
        ] as const;
        for (const [method, path] of places)
          expectRefusal(await system.ask({ method, path }), 404, "not_found");
      },
    },
  ],
};
