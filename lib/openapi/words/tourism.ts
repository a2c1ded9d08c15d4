import type * as rows from "#lib/routes/tourism.ts";
import type { AreaWords } from "../words.ts";

const cached = {
  en: "Public, and readable from pages of any origin. Responses can be cached for five minutes; send the `ETag` in `If-None-Match` to get 304 if nothing has changed.",
  id: "Publik, dan dapat dibaca halaman dari origin mana pun. Respons boleh disimpan di cache selama lima menit; kirim `ETag` di `If-None-Match` untuk mendapat 304 bila tidak ada perubahan.",
};

/** Words of the tourism service. */
export const tourismWords: AreaWords<typeof rows> = {
  "tourism/categories": {
    operationId: "listCategories",
    summaryInIndonesian: "Menampilkan kategori pariwisata",
    ...cached,
    fields: {},
    mistake: { where: "query", input: { limit: "10" } },
    curl: `curl -s "{base}/v1/pariwisata/kategori"`,
    reply: {
      name: "Categories",
      parts: { "data.[]": "Category" },
      en: "All categories, as stored.",
      id: "Semua kategori, sesuai data tersimpan.",
      fields: {
        data: { en: "The categories.", id: "Kategori." },
        "data.ktipe_id": { en: "ID of the category.", id: "ID kategori." },
        "data.ktipe_nama": { en: "Name of the category.", id: "Nama kategori." },
        "data.ktipe_active": {
          en: "Whether it is active, as stored.",
          id: "Apakah aktif, sesuai data tersimpan.",
        },
      },
      examples: { categories: { data: [{ ktipe_id: "1", ktipe_nama: "Wisata Alam", ktipe_active: "1" }] } },
    },
  },
  "tourism/gallery": {
    operationId: "listGallery",
    summaryInIndonesian: "Menampilkan foto satu destinasi",
    en: `Returns a JSON array without envelope; it is empty for an unknown destination. ${cached.en}`,
    id: `Mengembalikan array JSON tanpa pembungkus; kosong untuk destinasi yang tidak dikenal. ${cached.id}`,
    fields: {
      where: {
        en: "The only supported filter: `(pr_id,eq,<destination id>)`.",
        id: "Satu-satunya filter yang didukung: `(pr_id,eq,<id destinasi>)`.",
        example: "(pr_id,eq,1)",
        schema: { type: "string", maxLength: 75, pattern: "^\\(pr_id,eq,[^\\s(),~]+\\)$" },
      },
    },
    mistake: { where: "query", input: { where: "(id,eq,1)" } },
    curl: `curl -s "{base}/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)"`,
    reply: {
      name: "Gallery",
      parts: { "[]": "Photo" },
      en: "The photos.",
      id: "Foto-fotonya.",
      fields: {
        id: { en: "ID of the photo.", id: "ID foto." },
        pr_id: { en: "ID of the destination.", id: "ID destinasi." },
        url_foto: { en: "URL of the photo.", id: "URL foto." },
        caption: { en: "Caption of the photo.", id: "Keterangan foto." },
      },
      examples: {
        photos: [
          { id: 1, pr_id: "1", url_foto: "https://images.city.example/1.jpg", caption: "Danau saat pagi" },
        ],
      },
    },
  },
};
