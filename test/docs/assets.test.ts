import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { languages } from "#lib/openapi/words.ts";
import { prefixes } from "../../infra/docs/content.ts";
import { guideNames } from "../../infra/docs/guide.ts";
import { browser, load, weigh } from "../steps/docs-files.ts";

const { baseUrl } = inject("city");

const page = await (await fetch(`${baseUrl}/docs/paging`)).text();
const linked = [...page.matchAll(/(?:href|src)="([^"]+\.(?:js|css))"/g)].map(([, path = ""]) => path);
const script = linked.find((path) => path.includes("Search")) ?? "";

test("the page's scripts and style sheets are cached for a year", async () => {
  expect(linked.length).toBeGreaterThan(5);
  for (const path of linked)
    expect((await load(path, browser)).headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": `text/${path.endsWith(".js") ? "javascript" : "css"}; charset=utf-8`,
      vary: "accept-encoding",
    });
});

test("every client gets the same script, in a coding that it accepts", async () => {
  const text = brotliDecompressSync((await load(script, browser)).wire).toString();
  expect(text).toContain("pagefind");
  const zipped = await load(script, { "accept-encoding": "gzip, br;q=0" });
  expect(zipped.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(zipped.wire).toString()).toBe(text);
  for (const headers of [{}, { "accept-encoding": "identity" }]) {
    const plain = await load(script, headers);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.wire.toString()).toBe(text);
  }
});

test("a browser gets a page compressed, with the addresses of this stage", async () => {
  const { headers, wire } = await load("/docs/paging", browser);
  expect(headers["content-encoding"]).toBe("br");
  const text = brotliDecompressSync(wire).toString();
  expect(text).toContain(baseUrl);
  expect(text).not.toMatch(/path-of-the-api|services\.city\.example/);
});

test("a browser gets the OpenAPI document compressed, and other clients the same text", async () => {
  const { headers, wire } = await load("/openapi.json", browser);
  expect(headers).toMatchObject({ "content-encoding": "br", vary: "accept-encoding" });
  const plain = await load("/openapi.json");
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(brotliDecompressSync(wire).toString()).toBe(plain.wire.toString());
});

test.each([
  ["a reference", ["reference"], 900_000],
  ["any other page", ["", ...guideNames, "404"], 300_000],
])("%s weighs less than its limit, with the built files that it references", async (_, names, limit) => {
  for (const language of languages)
    for (const name of names) {
      const path = `/docs/${prefixes[language]}${name}`.replace(/\/$/, "");
      const bytes = await weigh(path);
      expect(bytes, path).toBeLessThan(limit);
      // the page itself is the least of it: an empty list of files would pass
      expect(bytes, path).toBeGreaterThan(30_000);
    }
});

test("a name with another digest is 404", async () =>
  expect((await fetch(`${baseUrl}${script.replace(/\.[\w-]+\.js$/, ".00000000.js")}`)).status).toBe(404));

test.each([
  "nothing",
  "nothing.html",
  "policy.txt",
  "packages.json",
  "..%2findex.mjs",
  "index",
  "a/b/c/d",
  "id/a/b/c/d",
])("/docs/%s is no page: people get one about it, programs JSON, and neither gets 304", async (path) => {
  const ask = (accept: string, method = "GET") =>
    fetch(`${baseUrl}/docs/${path}`, { method, headers: { accept, "if-none-match": "*" } });
  const shown = await ask("text/html,*/*;q=0.8");
  expect([shown.status, shown.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  const home = `${new URL(baseUrl).pathname}/docs`.replace("//", "/");
  expect(await shown.text()).toContain(path.startsWith("id/") ? `href="${home}/id"` : `href="${home}"`);
  const answered = await ask("application/json");
  expect([answered.status, await answered.json()]).toMatchObject([404, { code: "not_found" }]);
});

test("a redirect is not answered with 304", async () => {
  const init = { headers: { "if-none-match": "*" }, redirect: "manual" } as const;
  expect((await fetch(`${baseUrl}/`, init)).status).toBe(308);
});

test.each(["/", "/docs", "/docs/paging", "/docs/icon.svg", "/openapi.json"])(
  "HEAD of %s is GET without a body",
  async (path) => {
    const ask = async (method: string) => {
      const response = await fetch(`${baseUrl}${path}`, { method, redirect: "manual" });
      const { status, headers } = response;
      return {
        status,
        type: headers.get("content-type"),
        etag: headers.get("etag"),
        body: await response.text(),
      };
    };
    expect(await ask("HEAD")).toEqual({ ...(await ask("GET")), body: "" });
  },
);

test("the first page is titled with the product's name, and the others with it behind their own", async () => {
  const titleOf = async (path: string) =>
    /<title>(.*?)<\/title>/.exec(await (await fetch(`${baseUrl}${path}`)).text())?.[1];
  expect(await Promise.all(["/docs", "/docs/id", "/docs/paging"].map(titleOf))).toEqual([
    "Municipal Integration API",
    "API Integrasi Kota",
    "Paging | Municipal Integration API",
  ]);
});

test.each([
  ["/", "/docs"],
  ["/docs?lang=id", "/docs/id"],
  ["/docs/paging?lang=id", "/docs/id/paging"],
])("%s leads to %s", async (path, target) => {
  const response = await fetch(`${baseUrl}${path}`);
  expect([response.status, response.url]).toEqual([200, `${baseUrl}${target}`]);
});

test.each([
  ...["/docs/", "/docs/paging/", "/docs/id/", "/docs/paging?lang=en"],
  ...["/docs?lang=fr", "/docs/paging?lang=fr", "/docs/paging?lang=id&lang=en"],
])("%s is a page", async (path) => expect((await fetch(`${baseUrl}${path}`)).status).toBe(200));
