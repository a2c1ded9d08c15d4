import type { Text } from "../text.ts";

/** What stands above everything. The variables of the curl lines are those of the guides. */
export const info: Readonly<Record<"title" | "license" | "description", Text>> = {
  title: { en: "Municipal Integration API", id: "API Integrasi Kota" },
  license: { en: "Use by agreement with the city", id: "Penggunaan berdasarkan kesepakatan dengan kota" },
  description: {
    en: "Employee, resident, tourism and messaging services of the city.\n\nEach endpoint shows a line for the shell. The guides say where its variables come from. Every answer carries `X-Request-Id`: quote it when you report something. Refusals come in the order 404 (unknown address or method), 401, 403, 413, 400; what the work itself finds out comes after them.",
    id: "Layanan kepegawaian, kependudukan, pariwisata, dan perpesanan kota.\n\nSetiap endpoint menampilkan baris perintah untuk shell. Asal variabelnya dijelaskan di panduan. Setiap jawaban membawa `X-Request-Id`: sebutkan saat melapor. Penolakan datang dengan urutan 404 (alamat atau metode tidak dikenal), 401, 403, 413, 400; yang ditemukan oleh pekerjaannya sendiri datang setelah itu.",
  },
};

export const servers: Readonly<Record<"integration" | "messaging", Text>> = {
  integration: {
    en: "Employee, resident and tourism services",
    id: "Layanan kepegawaian, kependudukan, dan pariwisata",
  },
  messaging: { en: "Messaging gateway", id: "Gateway perpesanan" },
};

/** By the area of a route's function. */
export const tags: Readonly<Record<string, Text>> = {
  employee: {
    en: "Login with an account of the old system, tickets, employees and their profiles.",
    id: "Login dengan akun sistem lama, tiket, pegawai, dan profilnya.",
  },
  resident: {
    en: "Masked civil records, newest first, with an exact total, for partner agencies.",
    id: "Data kependudukan yang disamarkan, terbaru lebih dahulu, dengan jumlah pasti, untuk instansi mitra.",
  },
  tourism: {
    en: "Categories and photo galleries, open to anyone.",
    id: "Kategori dan galeri foto, terbuka untuk siapa saja.",
  },
  messaging: {
    en: "Texts, images and files to a phone number, from a backend. At an address of its own.",
    id: "Teks, gambar, dan berkas ke nomor telepon, dari backend. Di alamat tersendiri.",
  },
};

/** By the kind of a route's auth. */
export const securitySchemes = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "apikey",
    description: {
      en: "Key of a partner agency, never in the address.",
      id: "Kunci instansi mitra, tidak pernah di alamat.",
    },
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: {
      en: "Access token of the employee login, valid for 15 minutes.",
      id: "Token akses dari login pegawai, berlaku 15 menit.",
    },
  },
  basic: {
    type: "http",
    scheme: "basic",
    description: {
      en: "Credentials of a backend; never put them into a page or an app.",
      id: "Kredensial backend; jangan ditaruh di halaman web atau aplikasi.",
    },
  },
} as const;

export const headers = {
  "X-Request-Id": {
    schema: { type: "string" },
    description: { en: "Id of the request, for reports.", id: "Id permintaan, untuk laporan." },
  },
  "Retry-After": {
    schema: { type: "integer" },
    description: { en: "Seconds to wait.", id: "Detik untuk menunggu." },
  },
  "WWW-Authenticate": {
    schema: { type: "string" },
    description: { en: "How to identify oneself.", id: "Cara memperkenalkan diri." },
  },
  ETag: {
    schema: { type: "string" },
    description: { en: "Tag of exactly this answer.", id: "Tanda untuk persis jawaban ini." },
  },
  "Cache-Control": {
    schema: { type: "string" },
    description: { en: "How long it may be kept.", id: "Berapa lama boleh disimpan." },
  },
} as const;

/** Fields of errors, whatever their shape. */
export const errorFields: Readonly<Record<string, Text>> = {
  status: { en: "Tells an error from an answer.", id: "Membedakan kesalahan dari jawaban." },
  code: { en: "What went wrong, for programs.", id: "Apa yang salah, untuk program." },
  message: {
    en: "What went wrong and how to mend it, for people.",
    id: "Apa yang salah dan cara memperbaikinya, untuk manusia.",
  },
  errors: { en: "Each field that is wrong.", id: "Setiap isian yang salah." },
  "errors.field": { en: "Name of the field.", id: "Nama isian." },
  "errors.message": { en: "Its rule.", id: "Aturannya." },
  request_id: { en: "The same as `X-Request-Id`.", id: "Sama dengan `X-Request-Id`." },
  error: { en: "The code in the words of RFC 6749.", id: "Kode dalam istilah RFC 6749." },
  error_description: { en: "The message for OAuth clients.", id: "Pesan untuk klien OAuth." },
};
