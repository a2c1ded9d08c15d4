import { describe, expect, inject, test, vi } from "vitest";
import { type Language, languages } from "#lib/openapi/words.ts";
import { prefixes } from "../../infra/docs/content.ts";

const { baseUrl } = inject("city");

interface Pagefind {
  options(given: { basePath: string; baseUrl: string; ranking: Record<string, number> }): Promise<void>;
  init(): Promise<void>;
  search(query: string): Promise<{ results: { data(): Promise<{ url: string }> }[] }>;
}

const readText = async (path: string) => (await fetch(`${baseUrl}${path}`)).text();

/** How the site's search box weighs its results: pages load it with their script. */
const readRanking = async (): Promise<Record<string, number>> => {
  const [, path = ""] = /src="([^"]+\/Search[^"]+\.js)"/.exec(await readText("/docs/paging")) ?? [];
  const script = await (await fetch(new URL(path, baseUrl))).text();
  const [, weights = ""] = /ranking:\{([^}]+)\}/.exec(script) ?? [];
  const pairs = [...weights.matchAll(/(\w+):([\d.]+)/g)];
  return Object.fromEntries(pairs.map(([, name = "", weight]) => [name, Number(weight)]));
};

const ranking = await readRanking();
const code = await readText("/docs/pagefind/pagefind.js");

/** The search as a page of this language has it: it reads the language from the page. */
const openSearch = async (language: Language): Promise<Pagefind> => {
  const html = { getAttribute: () => language };
  vi.stubGlobal("document", { currentScript: null, querySelector: () => html });
  const module = `data:text/javascript,${encodeURIComponent(`${code}\n// ${language}`)}`;
  const pagefind: Pagefind = await import(/* @vite-ignore */ module);
  await pagefind.options({ basePath: `${baseUrl}/docs/pagefind/`, baseUrl: "/", ranking });
  await pagefind.init();
  vi.unstubAllGlobals();
  return pagefind;
};

/** What readers type, in English and in Indonesian, and the guide that answers it. */
const queries: readonly (readonly [string, Readonly<Record<Language, string>>])[] = [
  ["sending", { en: "webhook", id: "webhook" }],
  ["sending", { en: "delivered", id: "delivered" }],
  ["sending", { en: "OTP", id: "OTP" }],
  ["sending", { en: "one-time code", id: "kode sekali pakai" }],
  ["sending", { en: "callback signature", id: "tanda tangan callback" }],
  ["sending", { en: "Idempotency-Key", id: "Idempotency-Key" }],
  ["messenger", { en: "messages do not go out", id: "pesan tidak keluar" }],
  ["messenger", { en: "QR code", id: "kode QR" }],
  ["runbook", { en: "passkey required", id: "passkey diminta" }],
  ["runbook", { en: "database down", id: "basis data tidak tersedia" }],
  ["runbook", { en: "login rejected", id: "login ditolak" }],
  ["runbook", { en: "numbers guessed", id: "NIK ditebak" }],
  ["runbook", { en: "queue old", id: "antrean lama" }],
  ["runbook", { en: "error 463", id: "kode 463" }],
  ["test-data", { en: "sandbox", id: "sandbox" }],
  ["test-data", { en: "test number", id: "nomor uji" }],
  ["quick-start", { en: "quick start", id: "mulai cepat" }],
  ["app-builder", { en: "SDK", id: "SDK" }],
  ["app-builder", { en: "typed client", id: "klien bertipe" }],
  ["app-builder", { en: "refresh token", id: "refresh token" }],
  ["errors", { en: "error codes", id: "kode error" }],
  ["limits", { en: "rate limit", id: "batas permintaan" }],
  ["cors", { en: "CORS", id: "CORS" }],
  ["paging", { en: "page_size", id: "page_size" }],
  ["rotation", { en: "rotate secret", id: "rotasi secret" }],
  ["notifications", { en: "quiet hours", id: "jam tenang" }],
  ["importing", { en: "import CSV", id: "impor CSV" }],
  ["deploying", { en: "restore backup", id: "pemulihan backup" }],
  ["channels", { en: "SMS gateway", id: "gateway SMS" }],
  ["tickets", { en: "ticket", id: "tiket" }],
  ["versions", { en: "breaking change", id: "breaking change" }],
  ["status", { en: "support", id: "bantuan" }],
];

describe.each(languages)("the site's search in %s", async (language) => {
  const { search } = await openSearch(language);

  test.each(queries.map(([guide, texts]) => [texts[language], guide]))(
    "%s leads to the guide %s first",
    async (query, guide) => {
      const [first] = (await search(query)).results;
      expect((await first?.data())?.url).toBe(`/${prefixes[language]}${guide}.html`);
    },
  );
});
