import { describe, expect, inject, test } from "vitest";
import type { FaultName } from "#lib/faults/table.ts";
import { rowOf } from "#lib/openapi/faults.ts";
import { languages } from "#lib/openapi/text.ts";
import { faultWords } from "#lib/openapi/words/faults.ts";
import { login } from "#lib/routes/employee.ts";
import { redocly } from "../steps/redocly.ts";
import { readGuideText } from "../steps/shell-lines.ts";

const { baseUrl, messagingBaseUrl } = inject("city");
const read = async (query = "") => {
  const response = await fetch(`${baseUrl}/openapi.json${query}`);
  return { response, text: await response.text() };
};

test.each(languages)("Redocly accepts the document in %s", async (language) => {
  const file = `dist/docs-openapi/docs/openapi.${language}.json`;
  const { code, output } = await redocly("lint", file, "--extends", "recommended-strict", "--format", "json");
  const { totals } = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1));
  expect([code, totals.errors, totals.warnings]).toEqual([0, 0, 0]);
});

describe("the served document", () => {
  test("has the real addresses of both APIs, and no placeholders", async () => {
    const { text } = await read();
    const { servers, paths } = JSON.parse(text);
    expect(servers[0].url).toBe(baseUrl);
    for (const [path, item] of Object.entries(paths as Record<string, { servers?: [{ url: string }] }>))
      expect([path, item.servers?.[0].url]).toEqual([
        path,
        path.startsWith("/v1") ? undefined : messagingBaseUrl,
      ]);
    expect(text).not.toMatch(/(services|messages)\.city\.example/);
  });

  test("is the same in both languages except for its texts", async () => {
    const shape = (text: string) =>
      JSON.stringify(JSON.parse(text), (key, value) =>
        ["description", "summary", "name", "title", "url"].includes(key) && typeof value === "string"
          ? ""
          : value,
      );
    const [english, indonesian] = [await read(), await read("?lang=id")];
    expect(shape(indonesian.text)).toBe(shape(english.text));
    expect(JSON.parse(indonesian.text).info.title).toBe("API Integrasi Kota");
  });

  test("may be read by pages of any origin and cached, and contains no secret", async () => {
    const { response, text } = await read();
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cache-control")).toBe("public, max-age=300");
    const etag = response.headers.get("etag") ?? "";
    const again = await fetch(`${baseUrl}/openapi.json`, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    const { apiKey, basic, employee } = inject("city");
    for (const secret of [apiKey, basic.password, employee.password, employee.passphrase])
      expect(text).not.toContain(secret);
  });

  test.each(["?lang=fr", "?lang=", "?lang=en&lang=id"])("is not served with %s", async (query) =>
    expect((await read(query)).response.status).toBe(400),
  );
});

test.each(languages)("the guide to errors in %s contains every code in both spellings", (language) => {
  const guide = readGuideText(language, "errors");
  for (const name of Object.keys(faultWords) as FaultName[]) {
    const { status, code } = rowOf(name, login);
    expect(guide).toMatch(new RegExp(`\\| ${status} \\|.*\`${code}\``, "i"));
  }
});
