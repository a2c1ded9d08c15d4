import type { Text } from "../words.ts";

/** The head of the document. The variables of the curl lines are those of the guides. */
export const info: Readonly<Record<"title" | "license" | "description", Text>> = {
  title: { en: "Municipal Integration API", id: "API Integrasi Kota" },
  license: {
    en: "Use by agreement with the city",
    id: "Penggunaan berdasarkan perjanjian dengan pemerintah kota",
  },
  description: {
    en: "Employee, resident, tourism and messaging services of the city.\n\nEach endpoint has a curl example; the guides explain its variables. Every response has the header `X-Request-Id`: include it when you report a problem.",
    id: "Layanan kepegawaian, kependudukan, pariwisata, dan perpesanan kota.\n\nSetiap endpoint memiliki contoh curl; variabelnya dijelaskan di panduan. Setiap respons memiliki header `X-Request-Id`: sertakan saat melaporkan masalah.",
  },
};

export const servers: Readonly<Record<"integration" | "messaging", Text>> = {
  integration: {
    en: "Employee, resident and tourism services",
    id: "Layanan kepegawaian, kependudukan, dan pariwisata",
  },
  messaging: { en: "Messaging API", id: "API perpesanan" },
};

/** By the area of a route's function. The title is what readers see; the area's name stays the same in every language. */
export const tags: Readonly<Record<string, { readonly title: Text; readonly text: Text }>> = {
  employee: {
    title: { en: "Employees", id: "Kepegawaian" },
    text: {
      en: "Login with an account of the legacy system, tickets, employees and their profiles.",
      id: "Login dengan akun sistem lama, tiket, pegawai, dan profilnya.",
    },
  },
  resident: {
    title: { en: "Residents", id: "Kependudukan" },
    text: {
      en: "Masked civil records for partner agencies, newest first, with an exact total.",
      id: "Data kependudukan yang disamarkan untuk instansi mitra, dari yang terbaru, dengan total pasti.",
    },
  },
  tourism: {
    title: { en: "Tourism", id: "Pariwisata" },
    text: { en: "Categories and photo galleries, public.", id: "Kategori dan galeri foto, publik." },
  },
  messaging: {
    title: { en: "Messaging", id: "Perpesanan" },
    text: {
      en: "Texts, images and files to a phone number. For backends only (no CORS), on a separate host without a version segment.",
      id: "Teks, gambar, dan berkas ke nomor telepon. Hanya untuk backend (tanpa CORS), di host terpisah tanpa segmen versi.",
    },
  },
};

/** By the kind of a route's auth. */
export const securitySchemes = {
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "apikey",
    en: "API key of a partner agency; never send it in the URL.",
    id: "Kunci API instansi mitra; jangan dikirim di URL.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    en: "Access token from the employee login, valid for 15 minutes; a JWT that follows RFC8725.",
    id: "Token akses dari login pegawai, berlaku 15 menit; JWT yang mengikuti RFC8725.",
  },
  basic: {
    type: "http",
    scheme: "basic",
    en: "Credentials of a backend, which reads its own messages only; never use them in a web page or an app.",
    id: "Kredensial backend, yang hanya membaca pesannya sendiri; jangan dipakai di halaman web atau aplikasi.",
  },
} as const;

export const headers = {
  "X-Request-Id": {
    schema: { type: "string" },
    en: "Request ID, for problem reports.",
    id: "ID permintaan, untuk laporan masalah.",
  },
  "Retry-After": {
    schema: { type: "integer" },
    en: "Seconds to wait before retrying.",
    id: "Jeda sebelum mencoba lagi, dalam detik.",
  },
  "WWW-Authenticate": {
    schema: { type: "string" },
    en: "The required authentication scheme.",
    id: "Skema autentikasi yang diperlukan.",
  },
  ETag: { schema: { type: "string" }, en: "Version tag of this response.", id: "Penanda versi respons ini." },
  "Cache-Control": {
    schema: { type: "string" },
    en: "How long the response may be cached.",
    id: "Berapa lama respons boleh disimpan di cache.",
  },
} as const;

/** Fields of errors, whatever their shape. */
export const errorFields: Readonly<Record<string, Text>> = {
  status: { en: "Marks the response as an error.", id: "Menandai respons sebagai error." },
  code: { en: "Error code, for programs.", id: "Kode error, untuk program." },
  message: {
    en: "What went wrong and how to fix it, for people.",
    id: "Apa yang salah dan cara memperbaikinya, untuk manusia.",
  },
  errors: { en: "The invalid fields.", id: "Field yang tidak valid." },
  "errors.field": { en: "Name of the field.", id: "Nama field." },
  "errors.message": { en: "The rule it breaks.", id: "Aturan yang dilanggar." },
  request_id: { en: "Same as `X-Request-Id`.", id: "Sama dengan `X-Request-Id`." },
  error: { en: "Error code defined by RFC 6749.", id: "Kode error menurut RFC 6749." },
  error_description: { en: "The message for OAuth clients.", id: "Pesan untuk klien OAuth." },
};
