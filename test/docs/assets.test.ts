import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";

const { baseUrl } = inject("city");

/** Sends a browser's request for a file of the page. @returns the answer as it was on the wire. */
const load = (path: string, headers: Record<string, string> = {}) =>
  new Promise<{ headers: NodeJS.Dict<string | string[]>; wire: Buffer }>((resolve, reject) => {
    get(`${baseUrl}${path}`, { headers: { accept: "*/*", ...headers } }, async (response) => {
      expect(response.statusCode).toBe(200);
      resolve({ headers: response.headers, wire: await buffer(response) });
    }).on("error", reject);
  });

const page = await (await fetch(`${baseUrl}/docs/paging`)).text();
const linked = [...page.matchAll(/(?:href|src)="([^"]+\.(?:js|css))"/g)].map(([, path = ""]) => path);
const script = linked.find((path) => path.includes("Search")) ?? "";
const browser = { "accept-encoding": "gzip, deflate, br, zstd" };

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

test("a name with another digest is 404", async () =>
  expect((await fetch(`${baseUrl}${script.replace(/\.[\w-]+\.js$/, ".00000000.js")}`)).status).toBe(404));

test.each([
  ["/", "/docs"],
  ["/docs?lang=id", "/docs/id"],
  ["/docs/paging?lang=id", "/docs/id/paging"],
])("%s leads to %s", async (path, target) => {
  const response = await fetch(`${baseUrl}${path}`);
  expect([response.status, response.url]).toEqual([200, `${baseUrl}${target}`]);
});

test.each(["/docs/", "/docs/paging/", "/docs/id/", "/docs/paging?lang=en"])("%s is a page", async (path) =>
  expect((await fetch(`${baseUrl}${path}`)).status).toBe(200),
);
