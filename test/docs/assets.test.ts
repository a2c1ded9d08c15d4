import { get } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";

const { baseUrl } = inject("city");

/** Sends a browser's request for a file of the page. @returns the answer as it was on the wire. */
const load = (path: string, headers: Record<string, string> = {}) =>
  new Promise<{ headers: NodeJS.Dict<string | string[]>; wire: Buffer }>((resolve, reject) => {
    get(`${baseUrl}/${path}`, { headers: { accept: "*/*", ...headers } }, async (response) => {
      expect(response.statusCode).toBe(200);
      resolve({ headers: response.headers, wire: await buffer(response) });
    }).on("error", reject);
  });

const page = await (await fetch(`${baseUrl}/docs`)).text();
const linked = [...page.matchAll(/(?:href|src)="(docs\/[^"]+\.(?:js|css))"/g)].map(([, path = ""]) => path);
const script = linked.find((path) => path.endsWith(".js")) ?? "";
const browser = { "accept-encoding": "gzip, deflate, br, zstd" };

test("the page's script and style sheets are named by their contents, and cached for a year", async () => {
  expect(linked.map((path) => path.replace(/\.[0-9a-f]{16}\./, ".*."))).toEqual([
    "docs/page.*.css",
    "docs/reference.*.css",
    "docs/reference.*.js",
  ]);
  for (const path of linked)
    expect((await load(path, browser)).headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": `text/${path.endsWith(".js") ? "javascript" : "css"}; charset=utf-8`,
      vary: "accept-encoding",
    });
});

test("a browser loads the reference's script in less than 400 KB", async () => {
  const { headers, wire } = await load(script, browser);
  expect(headers["content-encoding"]).toBe("br");
  expect(wire.length).toBeLessThan(400_000);
});

test("every client gets the same script, in a coding that it accepts", async () => {
  const text = brotliDecompressSync((await load(script, browser)).wire).toString();
  expect(text).toContain("SwaggerUIBundle");
  const zipped = await load(script, { "accept-encoding": "gzip, br;q=0" });
  expect(zipped.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(zipped.wire).toString()).toBe(text);
  for (const headers of [{}, { "accept-encoding": "identity" }]) {
    const plain = await load(script, headers);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.wire.toString()).toBe(text);
  }
});

test("a name with another digest is 404", async () =>
  expect((await fetch(`${baseUrl}/docs/reference.${"0".repeat(16)}.js`)).status).toBe(404));

test.each([
  ["/docs/?lang=id", "/docs?lang=id"],
  ["/docs/paging/", "/docs/paging?lang=en"],
])("%s leads to %s, whose relative links work", async (path, target) => {
  const response = await fetch(`${baseUrl}${path}`);
  expect([response.status, response.url]).toEqual([200, `${baseUrl}${target}`]);
});
