import type { Language } from "#lib/openapi/words.ts";

/** The texts of the site that stand in no guide. */
export const words = {
  en: {
    product: "Municipal Integration API",
    lead: "How to call the city's employee, resident, tourism and messaging services, how to operate them, and how to change them.",
    reference: "API reference",
    referenceLead: "Every endpoint with its fields, errors and examples in curl, TypeScript, Python and PHP.",
    document: "OpenAPI document",
    noScript: "The interactive reference needs JavaScript. These are the endpoints:",
    missing: "Page not found",
    missingText: "No page has this address. Use the search, or start here:",
    toIndex: "All guides",
    pictures: { reference: "The reference, with an example in curl" },
  },
  id: {
    product: "API Integrasi Kota",
    lead: "Cara memanggil layanan kepegawaian, kependudukan, pariwisata, dan perpesanan kota, cara mengoperasikannya, dan cara mengubahnya.",
    reference: "Referensi API",
    referenceLead: "Setiap endpoint dengan field, error, dan contoh dalam curl, TypeScript, Python, dan PHP.",
    document: "Dokumen OpenAPI",
    noScript: "Referensi interaktif membutuhkan JavaScript. Berikut daftar endpoint-nya:",
    missing: "Halaman tidak ditemukan",
    missingText: "Tidak ada halaman dengan alamat ini. Gunakan pencarian, atau mulai dari sini:",
    toIndex: "Semua panduan",
    pictures: { reference: "Referensi, dengan contoh dalam curl" },
  },
} as const satisfies Readonly<Record<Language, object>>;
