import { rejections } from "#lib/channels/codes.ts";
import {
  disconnections,
  passkeyRequired,
  unknownDisconnection,
  unscanned,
} from "#lib/channels/whatsapp/codes.ts";
import type { ChannelName } from "#lib/messaging/channel.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";

interface Advice {
  readonly says: string;
  readonly operator: string;
}
type AdviceByCode<T> = { readonly [C in keyof T]: Advice };

const en = {
  passkey: passkeyRequired as Advice,
  unscanned: unscanned as Advice,
  disconnections: { ...disconnections, unknown: unknownDisconnection } as AdviceByCode<
    typeof disconnections & { unknown: unknown }
  >,
  rejections: rejections as { readonly [C in ChannelName]: AdviceByCode<(typeof rejections)[C]> },
  reasons: reasons as Readonly<Record<keyof typeof reasons, string>>,
  refused: (code: string, says: string) => `rejected by the platform, code ${code}: ${says}`,
  refusedBefore: (code: string, says: string) => `rejected before, code ${code}: ${says}`,
};

const nothing = "Tidak perlu tindakan; bila berlangsung satu jam, beri tahu developer.";
const others = "Tidak perlu tindakan; bila banyak pesan gagal, laporkan ke developer.";
const report = "Laporkan ke developer.";
const slower = "Hentikan pengirim massal. Jangan menaikkan laju pengiriman.";
const wait = "Tidak perlu tindakan; bila berlangsung satu jam, lihat halaman status platform.";
const correctNumber = "Minta pengirim memperbaiki nomornya.";

const id: typeof en = {
  passkey: {
    says: "WhatsApp meminta passkey akun untuk menautkan messenger, tetapi messenger tidak dapat memakai passkey.",
    operator: "Jangan memindai berulang-ulang. Tautkan nomor yang akunnya tidak diminta passkey.",
  },
  unscanned: {
    says: "Tidak ada telepon yang memindai kode QR tepat waktu; buka kode baru.",
    operator: "Tautkan telepon selama kode QR ditampilkan.",
  },
  disconnections: {
    401: {
      says: "WhatsApp telah menghapus tautan: di telepon, setelah 14 hari offline, atau karena kesalahan.",
      operator: "Di konsol tekan “Tautkan lagi”, lalu tautkan telepon.",
    },
    402: {
      says: "WhatsApp memblokir akun untuk sementara.",
      operator: "Tunggu sampai waktu tersebut. Cari tahu apa yang dikirim ke siapa, dan kurangi pengiriman.",
    },
    403: {
      says: "WhatsApp telah mengunci akun.",
      operator:
        "Buka WhatsApp di telepon dan ikuti petunjuknya. Lalu tekan “Sambungkan lagi”, atau lepas tautan dan tautkan nomor lain.",
    },
    405: {
      says: "WhatsApp menolak versi klien web yang diumumkan messenger.",
      operator:
        "Isi versi terkini di setelan stage (`webVersion`), atau perbarui library; lakukan deployment, lalu tekan “Sambungkan lagi”.",
    },
    406: {
      says: "WhatsApp telah memblokir akun.",
      operator:
        "Ajukan peninjauan di WhatsApp pada telepon. Bila dikabulkan tekan “Sambungkan lagi”, bila tidak, lepas tautan dan tautkan nomor lain.",
    },
    408: { says: "WhatsApp tidak dapat dijangkau.", operator: nothing },
    409: {
      says: "WhatsApp menolak user agent messenger.",
      operator: "Beri tahu developer: library harus diperbarui.",
    },
    411: {
      says: "WhatsApp di telepon tidak mendukung perangkat tertaut.",
      operator: "Perbarui WhatsApp di telepon.",
    },
    419: {
      says: "WhatsApp menolak kredensial.",
      operator: "Bila berlangsung satu jam, lepas tautan dan tautkan lagi.",
    },
    428: { says: "WhatsApp telah menutup koneksi.", operator: nothing },
    440: {
      says: "Program lain memakai tautan ini dan menggantikan koneksi.",
      operator: "Hentikan program lain itu.",
    },
    500: { says: "WhatsApp melaporkan kesalahan pada koneksi.", operator: nothing },
    503: { says: "WhatsApp tidak tersedia.", operator: nothing },
    515: { says: "WhatsApp meminta koneksi dimulai ulang.", operator: nothing },
    unknown: { says: "WhatsApp atau jaringan terganggu.", operator: nothing },
  },
  rejections: {
    whatsapp: {
      "400": {
        says: "pesan atau alamat penerimanya tidak valid",
        operator: "Laporkan ke developer bila nomor lain juga mengalaminya.",
      },
      "404": { says: "nomor tidak memiliki akun", operator: correctNumber },
      "421": { says: "alamat penerima telah berubah", operator: others },
      "429": {
        says: "akun mengirim terlalu cepat",
        operator: "Hentikan pengirim massal. Jangan menaikkan laju pengiriman.",
      },
      "463": {
        says: "akun sedang tidak boleh menulis ke kontak ini",
        operator:
          "Hentikan pengirim massal dan mintalah warga menulis lebih dulu ke nomor kota. Jangan memulai ulang task atau melepas tautan telepon.",
      },
      "475": {
        says: "akun telah mencapai batas percakapan baru",
        operator: "Hentikan pengirim massal sampai akhir siklus, yang ditampilkan konsol.",
      },
      "479": { says: "perangkat atau kunci penerima sudah tidak aktual", operator: others },
      "5xx": {
        says: "platform mengalami kesalahan internal",
        operator: "Tunggu. Bila berlangsung berjam-jam, cari laporan gangguan WhatsApp.",
      },
      not_registered: { says: "nomor tidak terdaftar di platform", operator: correctNumber },
      other: { says: "tanpa menyebutkan alasan", operator: "Laporkan kodenya ke developer." },
    },
    "cloud-api": {
      "4": {
        says: "aplikasi terlalu sering memanggil platform",
        operator: "Lihat batas laju aplikasi di App Dashboard.",
      },
      "100": { says: "permintaan tidak valid", operator: report },
      "429": { says: "platform menerima terlalu banyak permintaan", operator: slower },
      "80007": {
        says: "akun bisnis telah mencapai batas lajunya",
        operator: "Hentikan pengirim massal. Program lain ikut memakai batas akun bisnis ini.",
      },
      "130429": { says: "nomor mengirim lebih cepat daripada yang diterima platform", operator: slower },
      "130472": {
        says: "penerima termasuk dalam eksperimen platform dan tidak menerima pesan pemasaran",
        operator: "Tidak perlu tindakan.",
      },
      "130497": {
        says: "akun bisnis tidak boleh mengirim pesan ke negara ini",
        operator: "Minta pengirim memakai kanal lain.",
      },
      "131008": { says: "sebuah parameter tidak ada", operator: report },
      "131009": { says: "sebuah parameter tidak valid", operator: report },
      "131021": { says: "penerima adalah nomor pengirim sendiri", operator: correctNumber },
      "131026": {
        says: "nomor tidak memiliki akun yang dapat menerima pesan ini",
        operator: "Minta pengirim memeriksa nomornya, atau memakai kanal lain.",
      },
      "131030": {
        says: "penerima tidak ada dalam daftar nomor uji",
        operator: "Pakailah nomor yang terdaftar untuk produksi.",
      },
      "131047": {
        says: "penerima tidak menulis dalam 24 jam terakhir, dan pesan ini bukan template",
        operator: report,
      },
      "131048": {
        says: "nomor dibatasi karena penerima memblokir atau melaporkannya sebagai spam",
        operator: "Hentikan pengirim massal dan lihat kualitas nomor di WhatsApp Manager.",
      },
      "131049": {
        says: "platform memilih tidak menyampaikannya karena penerima mendapat banyak pesan pemasaran",
        operator: "Jangan mengirim pesan seperti ini kepada penerima selama 24 jam.",
      },
      "131050": {
        says: "penerima telah menghentikan pesan pemasaran dari bisnis ini",
        operator: "Keluarkan penerima dari daftar pengirim.",
      },
      "131051": { says: "jenis pesan tidak didukung", operator: report },
      "131052": { says: "platform tidak dapat mengunduh medianya", operator: report },
      "131053": { says: "platform tidak menerima medianya", operator: "Minta pengirim memeriksa berkasnya." },
      "131056": {
        says: "terlalu banyak pesan ke penerima ini dalam waktu singkat",
        operator: "Tidak perlu tindakan; bila banyak pesan gagal, minta pengirim mengirim lebih sedikit.",
      },
      "131057": { says: "akun bisnis sedang dalam pemeliharaan", operator: wait },
      "131063": {
        says: "template pemasaran dimatikan untuk akun ini",
        operator: "Aktifkan di WhatsApp Manager, atau pakailah template utilitas.",
      },
      "131064": {
        says: "akun bisnis memakai template dengan kategori yang salah dan untuk sementara boleh mengirim lebih sedikit",
        operator: "Hentikan pengirim massal dan perbaiki kategori template di WhatsApp Manager.",
      },
      "132000": {
        says: "jumlah parameter template berbeda",
        operator: "Beri setiap template tepat satu parameter di isinya.",
      },
      "132001": {
        says: "template tidak ada dalam bahasa ini atau belum disetujui",
        operator: "Perbaiki nama dan bahasa di secret messenger-channels, atau tunggu persetujuannya.",
      },
      "132005": {
        says: "teks template dan pesannya bersama-sama terlalu panjang",
        operator: "Minta teks yang lebih pendek kepada pengirim, atau pendekkan teks template.",
      },
      "132007": {
        says: "isi template melanggar kebijakan platform",
        operator: "Ajukan template lain di WhatsApp Manager.",
      },
      "132012": { says: "format sebuah parameter berbeda dari template", operator: report },
      "132015": {
        says: "template dijeda karena dilaporkan oleh penerima",
        operator: "Ubah template di WhatsApp Manager; jedanya berlangsung berjam-jam.",
      },
      "132016": {
        says: "template dimatikan karena terlalu sering dilaporkan oleh penerima",
        operator: "Ajukan template lain dan isikan namanya di secret messenger-channels.",
      },
      "132018": { says: "sebuah parameter template tidak valid", operator: report },
      "132068": { says: "flow milik template diblokir", operator: "Pakailah template tanpa flow." },
      "132069": { says: "flow milik template diperlambat", operator: "Pakailah template tanpa flow." },
      "133004": { says: "platform sementara tidak tersedia", operator: wait },
      "133016": {
        says: "nomor terlalu sering didaftarkan",
        operator: "Tunggu tiga hari, lalu daftarkan lagi.",
      },
      "134101": {
        says: "platform masih mendistribusikan template",
        operator: "Tidak perlu tindakan: perlu waktu sepuluh menit.",
      },
      "134102": {
        says: "platform tidak dapat mendistribusikan template",
        operator: "Ajukan lagi di WhatsApp Manager.",
      },
      "135000": { says: "permintaan gagal karena sebab yang tidak diketahui", operator: report },
      "2494100": { says: "nomor sedang dalam pemeliharaan", operator: wait },
      other: { says: "tanpa menyebutkan alasan", operator: "Laporkan kodenya ke developer." },
    },
    sms: {
      "402": { says: "saldo akun di gateway SMS habis", operator: "Isi ulang saldo akun di gateway." },
      "429": {
        says: "akun mengirim lebih cepat daripada yang diizinkan gateway SMS",
        operator:
          "Tidak perlu tindakan; bila terus terjadi, turunkan laju pengiriman nomor, atau minta laju lebih tinggi kepada gateway.",
      },
      other: {
        says: "gateway SMS menolak pesan",
        operator:
          "Cari kodenya di dokumentasi gateway. Bila semua pesan mengalaminya, perbaiki setelan akun.",
      },
    },
  },
  reasons: {
    unanswered: "platform tidak menjawab",
    expiredWithoutMedia:
      "tidak terkirim sebelum kedaluwarsa; tidak ada server media platform yang menerima medianya",
    expiredWithoutDirectory:
      "tidak terkirim sebelum kedaluwarsa; platform tidak menjawab untuk nomor atau perangkatnya",
    expired: "tidak terkirim sebelum kedaluwarsa",
    unclear: "hasilnya tidak dapat disimpan; lihat log messenger",
    notRegistered: "nomor tidak terdaftar di platform",
    noDevice: "platform tidak menyebutkan perangkat nomor ini yang dapat menerima pesan",
    optedOut: "penerima sudah berhenti menerima pesan ini",
    unprepared: "pesan tidak dapat disiapkan",
    undecryptable:
      "telepon penerima tidak dapat mendekripsi pesan dan menampilkan “Menunggu pesan ini”; kirim lagi sebagai pesan baru",
  },
  refused: (code, says) => `ditolak platform, kode ${code}: ${says}`,
  refusedBefore: (code, says) => `sebelumnya ditolak, kode ${code}: ${says}`,
};

/** What the platform says, and why a message was not delivered. */
export const platform = { en, id };
