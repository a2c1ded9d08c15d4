import type * as rows from "#lib/routes/resident.ts";
import type { AreaWords, FieldWords, RouteWords } from "../words.ts";

const paging: Readonly<Record<string, FieldWords>> = {
  page_number: {
    en: "Page to return, a JSON number without quotes.",
    id: "Halaman yang diminta, angka JSON tanpa tanda kutip.",
    example: 1,
  },
  page_size: {
    en: "Rows per page, a JSON number without quotes.",
    id: "Baris per halaman, angka JSON tanpa tanda kutip.",
    example: 10,
  },
};

/** Of every route. */
const headers: Readonly<Record<string, FieldWords>> = {
  "x-purpose": {
    en: "Why the data is needed: one of the codes of your agreement, which may require it. Stored in the audit.",
    id: "Keperluan data: salah satu kode dalam perjanjian Anda, yang dapat mewajibkannya. Disimpan dalam audit.",
    example: "health-insurance",
  },
  "x-case": {
    en: "Your reference of the case: opaque, without personal data, up to 100 printable ASCII characters, with at most 14 digits in a row. Stored in the audit.",
    id: "Nomor rujukan kasus Anda: tanpa makna bagi pihak lain, tanpa data pribadi, paling banyak 100 karakter ASCII, dengan paling banyak 14 digit berurutan. Disimpan dalam audit.",
    example: "case-2025-0042",
  },
  "x-user": {
    en: "Your reference of the clerk, like `X-Case`.",
    id: "Nomor rujukan petugas Anda, seperti `X-Case`.",
    example: "clerk-17",
  },
};

const reply: RouteWords["reply"] = {
  name: "ResidentPage",
  parts: { "data.[]": "Resident" },
  en: "The page. Beyond the last page `data` is empty and `total` is still exact.",
  id: "Halaman yang diminta. Setelah halaman terakhir, `data` kosong dan `total` tetap pasti.",
  fields: {
    data: {
      en: "Residents, newest first. A field that your agreement does not have is `null`.",
      id: "Penduduk, dari yang terbaru. Field yang tidak ada dalam perjanjian Anda berisi `null`.",
    },
    "data.nik_alt": {
      en: "Identity number, masked: first 4 and last 2 digits.",
      id: "NIK, disamarkan: 4 digit pertama dan 2 digit terakhir.",
    },
    "data.nama": { en: "Name, not masked.", id: "Nama, tidak disamarkan." },
    "data.nama_ibu_alt": {
      en: "Mother's name, masked: first letter of each word.",
      id: "Nama ibu, disamarkan: huruf pertama setiap kata.",
    },
    "data.no_kk_alt": {
      en: "Family card number, masked: first 4 and last 2 digits.",
      id: "Nomor kartu keluarga, disamarkan: 4 digit pertama dan 2 digit terakhir.",
    },
    "data.alamat_alt": {
      en: "Address, masked: at most the first 4 characters.",
      id: "Alamat, disamarkan: paling banyak 4 karakter pertama.",
    },
    "data.t_dusun_lingkungan": { en: "Hamlet or neighbourhood.", id: "Dusun atau lingkungan." },
    "data.t_desakel": { en: "Village or ward.", id: "Desa atau kelurahan." },
    "data.t_kec": { en: "Sub-district.", id: "Kecamatan." },
    "data.t_kabkota": { en: "City or regency.", id: "Kabupaten atau kota." },
    "data.created_at": {
      en: "Creation time of the record in the city's local time: ISO 8601 without time zone, with microseconds.",
      id: "Waktu data dibuat dalam waktu setempat kota: ISO 8601 tanpa zona waktu, dengan mikrodetik.",
    },
    total: {
      en: "Exact number of matching residents. The number of pages is `total / page_size`, rounded up.",
      id: "Jumlah pasti penduduk yang cocok. Jumlah halaman adalah `total / page_size`, dibulatkan ke atas.",
    },
    page: { en: "The requested page.", id: "Nomor halaman yang diminta." },
  },
  examples: {
    page: {
      data: [
        {
          nik_alt: "9971**********04",
          nama: "SITI CONTOH",
          nama_ibu_alt: "A*** C***",
          no_kk_alt: "9971**********12",
          alamat_alt: "JL. ******",
          t_dusun_lingkungan: "LINGKUNGAN II",
          t_desakel: "CONTOH",
          t_kec: "CONTOH UTARA",
          t_kabkota: "KOTA CONTOH",
          created_at: "2025-01-31T08:15:30.123456",
        },
      ],
      total: 5004,
      page: 1,
    },
  },
};

const masked = {
  en: "Columns ending in `_alt` are masked inside the database, and every read is audited.",
  id: "Kolom yang berakhiran `_alt` disamarkan di dalam basis data, dan setiap pembacaan diaudit.",
};

/** Words of the resident service. */
export const residentWords: AreaWords<typeof rows> = {
  "resident/list": {
    operationId: "listResidents",
    summaryInIndonesian: "Menampilkan penduduk, dari yang terbaru",
    en: `With an empty body, the defaults apply. ${masked.en}`,
    id: `Bila body kosong, nilai bawaan berlaku. ${masked.id}`,
    fields: { ...headers, ...paging },
    examples: { page: { page_number: 1, page_size: 10 } },
    mistake: { where: "body", input: { page_number: 1, page_size: "10" } },
    curl: `curl -s "{base}/v1/penduduk" -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"page_number": 1, "page_size": 3}'`,
    reply,
  },
  "resident/search": {
    operationId: "searchResidents",
    summaryInIndonesian: "Mencari penduduk menurut NIK, nama, atau keduanya",
    en: `At least one of \`p_nik\` and \`p_nama\` is required; blank values are ignored. If both are sent, both must match. \`%\` and \`_\` in a name are literal. ${masked.en}`,
    id: `Minimal salah satu dari \`p_nik\` dan \`p_nama\` wajib diisi; nilai kosong diabaikan. Bila keduanya dikirim, keduanya harus cocok. \`%\` dan \`_\` dalam nama dibaca apa adanya. ${masked.id}`,
    fields: {
      ...headers,
      p_nik: {
        en: "Identity number: a string of exactly 16 digits. Needs a key with the scope `resident:number`.",
        id: "NIK: string tepat 16 digit. Membutuhkan kunci dengan scope `resident:number`.",
        example: "9971012345670004",
      },
      p_nama: {
        en: "Any part of the name. Case, apostrophes and repeated blanks make no difference. Needs a key whose agreement has the field `nama`.",
        id: "Bagian mana pun dari nama. Huruf besar atau kecil, apostrof, dan spasi ganda tidak dibedakan. Membutuhkan kunci yang perjanjiannya memuat field `nama`.",
        example: "siti",
      },
      ...paging,
    },
    forms: {
      keyword: "anyOf",
      each: [
        { title: "byNumber", needs: "p_nik" },
        { title: "byName", needs: "p_nama" },
      ],
    },
    examples: {
      byName: { p_nama: "siti", page_number: 1, page_size: 10 },
      byNumber: { p_nik: "9971012345670004" },
    },
    mistake: { where: "body", input: { p_nik: "1234" } },
    curl: `curl -s "{base}/v1/penduduk/search" -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"p_nama": "siti"}'`,
    reply,
  },
  "resident/verify": {
    operationId: "verifyResident",
    summaryInIndonesian: "Menyatakan apakah nilai yang disebutkan warga cocok dengan data",
    en: "Answers `match` or `no_match` for each value that is sent, and never shows a stored one. Send `p_nik` and at least one of `p_nama`, `p_nama_ibu` and `p_no_kk`; blank values are ignored. An area matches only if one of these three does. Names compare by the rules in the partner guide, areas without regard to case, spaces, punctuation and diacritics, numbers digit by digit. A number that nobody has gets `no_match`, like a wrong value. Within 24 hours, a number may have 10 requests with a wrong value, by all agencies together, and an agency 1,000; then the answer is 429. Every request is audited like a read. Needs a key with the scope `resident:verify`.",
    id: "Menjawab `match` atau `no_match` untuk setiap nilai yang dikirim, dan tidak pernah menampilkan nilai yang tersimpan. Kirim `p_nik` dan minimal satu dari `p_nama`, `p_nama_ibu`, dan `p_no_kk`; nilai kosong diabaikan. Wilayah hanya dinyatakan cocok bila salah satu dari ketiganya cocok. Nama dibandingkan menurut aturan dalam panduan mitra, wilayah tanpa membedakan huruf besar dan kecil, spasi, tanda baca, dan diakritik, nomor digit demi digit. Nomor yang tidak dimiliki siapa pun mendapat `no_match`, sama seperti nilai yang salah. Dalam 24 jam, satu nomor boleh menerima 10 permintaan berisi nilai yang salah, dari semua instansi, dan satu instansi 1.000; setelah itu responsnya 429. Setiap permintaan diaudit seperti pembacaan. Membutuhkan kunci dengan scope `resident:verify`.",
    fields: {
      ...headers,
      p_nik: {
        en: "Identity number: a string of exactly 16 digits.",
        id: "NIK: string tepat 16 digit.",
        example: "9971012345670004",
      },
      p_nama: { en: "The whole name.", id: "Nama lengkap.", example: "Hj. Siti Contoh, S.Kom." },
      p_nama_ibu: { en: "The mother's whole name.", id: "Nama lengkap ibu.", example: "Aminah Contoh" },
      p_no_kk: {
        en: "Family card number: a string of exactly 16 digits.",
        id: "Nomor kartu keluarga: string tepat 16 digit.",
        example: "9971012345670012",
      },
      p_t_dusun_lingkungan: {
        en: "Hamlet or neighbourhood.",
        id: "Dusun atau lingkungan.",
        example: "Lingkungan II",
      },
      p_t_desakel: { en: "Village or ward.", id: "Desa atau kelurahan.", example: "Contoh" },
      p_t_kec: { en: "Sub-district.", id: "Kecamatan.", example: "Contoh Utara" },
      p_t_kabkota: { en: "City or regency.", id: "Kabupaten atau kota.", example: "Kota Contoh" },
    },
    examples: {
      name: { p_nik: "9971012345670004", p_nama: "Hj. Siti Contoh, S.Kom.", p_t_desakel: "Contoh" },
    },
    mistake: { where: "body", input: { p_nik: "1234", p_nama: 7 } },
    curl: `curl -s "{base}/v1/penduduk/verify" -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"p_nik": "9971012345670004", "p_nama": "Siti Contoh"}'`,
    reply: {
      name: "Verification",
      en: "One answer for each value that was sent.",
      id: "Satu jawaban untuk setiap nilai yang dikirim.",
      fields: {
        data: { en: "The answers, by field of the request.", id: "Jawaban, menurut field permintaan." },
        ...Object.fromEntries(
          Object.entries({
            p_nama: "nama",
            p_nama_ibu: "nama ibu",
            p_no_kk: "nomor kartu keluarga",
            p_t_dusun_lingkungan: "dusun atau lingkungan",
            p_t_desakel: "desa atau kelurahan",
            p_t_kec: "kecamatan",
            p_t_kabkota: "kabupaten atau kota",
          }).map(([field, noun]) => [
            `data.${field}`,
            {
              en: `Whether \`${field}\` matches; absent if it was not sent.`,
              id: `Apakah ${noun} cocok; tidak ada bila tidak dikirim.`,
            },
          ]),
        ),
      },
      examples: { answers: { data: { p_nama: "match", p_t_desakel: "no_match" } } },
    },
  },
};
