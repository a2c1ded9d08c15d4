import type { AreaWords, FieldWords, RouteWords } from "../words.ts";

const paging: Readonly<Record<string, FieldWords>> = {
  page_number: {
    text: {
      en: "Page to return, a JSON number without quotes.",
      id: "Halaman yang diminta, angka JSON tanpa tanda kutip.",
    },
    example: 1,
  },
  page_size: {
    text: {
      en: "Rows a page, a JSON number without quotes.",
      id: "Baris per halaman, angka JSON tanpa tanda kutip.",
    },
    example: 10,
  },
};

const reply: RouteWords["reply"] = {
  name: "ResidentPage",
  text: {
    en: "The page. Past the end `data` is empty and `total` still true.",
    id: "Halamannya. Setelah halaman terakhir `data` kosong dan `total` tetap benar.",
  },
  fields: {
    data: { en: "Residents, newest first.", id: "Penduduk, terbaru lebih dahulu." },
    "data.nik_alt": {
      en: "Identity number, masked: first 4 and last 2 digits.",
      id: "NIK, disamarkan: 4 angka pertama dan 2 terakhir.",
    },
    "data.nama": { en: "Name, not masked.", id: "Nama, tidak disamarkan." },
    "data.nama_ibu_alt": {
      en: "Mother's name, masked: first letter of each word.",
      id: "Nama ibu, disamarkan: huruf pertama setiap kata.",
    },
    "data.no_kk_alt": {
      en: "Family card number, masked: first 4 and last 2 digits.",
      id: "Nomor kartu keluarga, disamarkan: 4 angka pertama dan 2 terakhir.",
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
      en: "When the record was made: the city's clock, ISO 8601 without zone, with microseconds.",
      id: "Waktu rekaman dibuat: jam kota, ISO 8601 tanpa zona, dengan mikrodetik.",
    },
    total: {
      en: "Exact number of all matching residents: pages are `total / page_size`, rounded up.",
      id: "Jumlah pasti semua penduduk yang cocok: banyak halaman adalah `total / page_size`, dibulatkan ke atas.",
    },
    page: { en: "The page that was asked for.", id: "Halaman yang diminta." },
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
  en: "Columns that end in `_alt` are masked inside the database, and each read leaves an audit row.",
  id: "Kolom yang berakhiran `_alt` disamarkan di dalam basis data, dan setiap pembacaan meninggalkan catatan audit.",
};

/** Words of the resident service. */
export const residentWords: AreaWords = {
  "resident/list": {
    operationId: "listResidents",
    summaryInIndonesian: "Menampilkan penduduk, terbaru lebih dahulu",
    text: {
      en: `An empty body means the defaults. ${masked.en} The key may also come in \`x-api-key\`.`,
      id: `Isi kosong berarti nilai bawaan. ${masked.id} Kunci boleh juga dikirim di \`x-api-key\`.`,
    },
    fields: paging,
    examples: { page: { page_number: 1, page_size: 10 } },
    mistake: { where: "body", input: { page_number: 1, page_size: "10" } },
    curl: `curl -s "{base}/v1/penduduk" -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"page_number": 1, "page_size": 3}'`,
    reply,
  },
  "resident/search": {
    operationId: "searchResidents",
    summaryInIndonesian: "Mencari penduduk menurut NIK, nama, atau keduanya",
    text: {
      en: `With both, both must hold. A blank one counts as absent; at least one is needed. \`%\` and \`_\` in a name mean themselves. ${masked.en}`,
      id: `Bila keduanya dikirim, keduanya harus cocok. Yang kosong dianggap tidak ada; paling sedikit satu diperlukan. \`%\` dan \`_\` dalam nama berarti dirinya sendiri. ${masked.id}`,
    },
    fields: {
      p_nik: {
        text: {
          en: "Identity number, exactly 16 digits, as text.",
          id: "NIK, tepat 16 angka, sebagai teks.",
        },
        example: "9971012345670004",
      },
      p_nama: {
        text: {
          en: "Any part of the name, in any case.",
          id: "Bagian mana pun dari nama, huruf besar atau kecil.",
        },
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
};
