import type { AreaWords } from "../words.ts";

const cached = {
  en: "Open to anyone, and to pages of any origin. Answers may be kept for five minutes; send the `ETag` back in `If-None-Match` to be told 304 where nothing changed.",
  id: "Terbuka untuk siapa saja, dan untuk halaman dari origin mana pun. Jawaban boleh disimpan lima menit; kirim kembali `ETag` di `If-None-Match` untuk mendapat 304 bila tidak ada perubahan.",
};

/** Words of the tourism service. */
export const tourismWords: AreaWords = {
  "tourism/categories": {
    operationId: "listCategories",
    summaryInIndonesian: "Menampilkan kategori pariwisata",
    text: cached,
    fields: {},
    curl: `curl -s "{base}/v1/pariwisata/kategori"`,
    reply: {
      name: "Categories",
      text: { en: "Every category, as it is stored.", id: "Setiap kategori, sebagaimana tersimpan." },
      fields: {
        data: { en: "The categories.", id: "Kategori." },
        "data.ktipe_id": { en: "Id of the category.", id: "Id kategori." },
        "data.ktipe_nama": { en: "Name of the category.", id: "Nama kategori." },
        "data.ktipe_active": {
          en: "Whether it is in use, as it is stored.",
          id: "Apakah dipakai, sebagaimana tersimpan.",
        },
      },
      examples: { categories: { data: [{ ktipe_id: "1", ktipe_nama: "Wisata Alam", ktipe_active: "1" }] } },
    },
  },
  "tourism/gallery": {
    operationId: "listGallery",
    summaryInIndonesian: "Menampilkan foto satu destinasi",
    text: {
      en: `A bare array; of a destination that nobody knows an empty one. ${cached.en}`,
      id: `Berupa array saja; untuk destinasi yang tidak dikenal array kosong. ${cached.id}`,
    },
    fields: {
      where: {
        text: {
          en: "The one filter that is known: `(pr_id,eq,<destination id>)`.",
          id: "Satu-satunya saringan yang dikenal: `(pr_id,eq,<id destinasi>)`.",
        },
        example: "(pr_id,eq,1)",
        schema: { type: "string", pattern: "^\\(pr_id,eq,[\\p{L}\\p{N}_.\\-]{1,64}\\)$" },
      },
    },
    mistake: { where: "query", input: { where: "(id,eq,1)" } },
    curl: `curl -s "{base}/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)"`,
    reply: {
      name: "Gallery",
      text: { en: "The photos.", id: "Foto-fotonya." },
      fields: {
        id: { en: "Id of the photo.", id: "Id foto." },
        pr_id: { en: "Id of the destination.", id: "Id destinasi." },
        url_foto: { en: "Address of the photo.", id: "Alamat foto." },
        caption: { en: "What it shows.", id: "Keterangan foto." },
      },
      examples: {
        photos: [
          { id: 1, pr_id: "1", url_foto: "https://images.city.example/1.jpg", caption: "Danau saat pagi" },
        ],
      },
    },
  },
};
