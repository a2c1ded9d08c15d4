import { describe, expect, inject, test } from "vitest";
import * as z from "zod/mini";
import type { ErrorName } from "#lib/errors/table.ts";
import { composeDocument } from "#lib/openapi/document.ts";
import { rowOf } from "#lib/openapi/errors.ts";
import { errorWords } from "#lib/openapi/words/errors.ts";
import { languages } from "#lib/openapi/words.ts";
import { documentNames } from "#lib/routes/docs.ts";
import { login } from "#lib/routes/employee.ts";
import { listCategories } from "#lib/routes/tourism.ts";
import { integrationApi } from "../../infra/aws/integration-api.ts";
import { redocly } from "../steps/redocly.ts";
import { readGuideText } from "../steps/shell-lines.ts";

const { baseUrl, messagingBaseUrl } = inject("city");
interface Operation {
  readonly tags: readonly string[];
  readonly operationId?: string;
  readonly "x-codeSamples"?: readonly { readonly source: string }[];
}

const read = async (query = "") => {
  const response = await fetch(`${baseUrl}/openapi.json${query}`);
  return { response, text: await response.text() };
};

test.each(languages)("Redocly accepts the documents in %s", async (language) => {
  const files = documentNames.map((name) => `dist/docs-openapi/docs/${name}.${language}.json`);
  const { code, output } = await redocly("lint", ...files, "--extends", "recommended-strict");
  expect(code, output).toBe(0);
  expect(output.match(/validated in/g), output).toHaveLength(files.length);
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
        ["description", "summary", "name", "title", "x-displayName", "url"].includes(key) &&
        typeof value === "string"
          ? ""
          : value,
      );
    const [english, indonesian] = [await read(), await read("?lang=id")];
    expect(shape(indonesian.text)).toBe(shape(english.text));
    expect(JSON.parse(indonesian.text).info.title).toBe("API Integrasi Kota");
  });

  test("has a sample of each operation, none of which sends a fixed time or Idempotency-Key", async () => {
    const { paths } = JSON.parse((await read()).text) as { paths: Record<string, Record<string, Operation>> };
    const operations = Object.values(paths).flatMap((item) =>
      Object.values(item).filter(({ operationId }) => operationId),
    );
    expect(operations.length).toBeGreaterThan(10);
    for (const { operationId, "x-codeSamples": samples = [] } of operations) {
      const text = samples.map(({ source }) => source).join("\n");
      expect([operationId, text]).toEqual([operationId, expect.stringContaining("curl ")]);
      expect([operationId, text]).toEqual([
        operationId,
        expect.not.stringMatching(/Idempotency-Key|\d{4}-\d\d-\d\dT/),
      ]);
    }
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

  test("of one API has the paths and the address of that API alone", async () => {
    const joint = Object.keys(JSON.parse((await read()).text).paths);
    const own = [
      ["integration", baseUrl, (path: string) => path.startsWith("/v1/")],
      ["messaging", messagingBaseUrl, (path: string) => !path.startsWith("/v1/")],
    ] as const;
    for (const [api, url, isOwn] of own) {
      const { servers, paths } = JSON.parse((await read(`?api=${api}`)).text);
      expect([servers.length, servers[0].url]).toEqual([1, url]);
      expect(Object.keys(paths)).toEqual(joint.filter(isOwn));
      for (const item of Object.values(paths)) expect(item).not.toHaveProperty("servers");
    }
  });

  test("names what generated clients make types and methods of", async () => {
    const { paths, components } = JSON.parse((await read()).text);
    const operations = Object.values(paths as Record<string, Record<string, Operation>>).flatMap((item) =>
      Object.values(item).filter(({ operationId }) => operationId),
    );
    const names = operations.map(({ tags, operationId }) => `${tags} ${operationId}`);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(names.length);
    const stable = [
      "employee login",
      "employee refresh",
      "employee getTicket",
      "employee readEmployees",
      "resident listResidents",
      "resident searchResidents",
      "resident verifyResident",
      "tourism listCategories",
      "tourism listGallery",
      "messaging sendMessage",
      "messaging sendImage",
      "messaging sendFile",
      "messaging readMessage",
    ];
    expect(names).toEqual(expect.arrayContaining(stable));
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(["Employee", "Position", "Rank", "Resident", "Category", "Photo", "Message"]),
    );
  });

  test("has patterns that mean the same without the flag u", async () => {
    const patterns = [...(await read()).text.matchAll(/"pattern": (".*")/g)].map(([, json = ""]) =>
      JSON.parse(json),
    );
    expect(patterns.length).toBeGreaterThan(10);
    for (const pattern of patterns) expect(pattern).not.toMatch(/\\[pP]\{|\\u\{|[^\0-\x7f]/);
  });

  test.each(["?api=other", "?language=id", "?lang=fr", "?lang=", "?lang=en&lang=id"])(
    "is not served with %s",
    async (query) => expect((await read(query)).response.status).toBe(400),
  );
});

test("a 404 of each API says where the other one is", async () => {
  for (const [url, other] of [
    [`${baseUrl}/send/message`, messagingBaseUrl],
    [`${messagingBaseUrl}/v1/penduduk`, baseUrl],
  ] as const) {
    const response = await fetch(url, { method: "POST" });
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      404,
      expect.stringContaining(` is at ${other}.`),
    ]);
  }
});

test.each(languages)("the guide to errors in %s contains every code in both spellings", (language) => {
  const guide = readGuideText(language, "errors");
  for (const name of Object.keys(errorWords) as ErrorName[]) {
    const { status, code } = rowOf(name, login);
    expect(guide).toMatch(new RegExp(`\\| ${status} \\|.*\`${code}\``, "i"));
  }
});

test("two endpoints cannot give one name to different schemas", () => {
  const changed = { ...listCategories, reply: z.object({ data: z.array(z.string()) }) };
  const api = { ...integrationApi, routes: [...integrationApi.routes, changed] };
  expect(() => composeDocument([api], "1.0.0", "en")).toThrow("two different schemas have the name Category");
});
