import {
  disconnections,
  passkeyRequired,
  refusals,
  unknownDisconnection,
} from "#lib/channels/platform-codes.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";

interface Advice {
  readonly says: string;
  readonly operator: string;
}
type AdviceByCode<T> = { readonly [C in keyof T]: Advice };

const en = {
  passkey: passkeyRequired as Advice,
  disconnections: { ...disconnections, unknown: unknownDisconnection } as AdviceByCode<
    typeof disconnections & { unknown: unknown }
  >,
  refusals: refusals as AdviceByCode<typeof refusals>,
  reasons: reasons as Readonly<Record<keyof typeof reasons, string>>,
  refused: (code: string, says: string) => `rejected by the platform, code ${code}: ${says}`,
  refusedBefore: (code: string, says: string) => `rejected before, code ${code}: ${says}`,
};

const nothing = "Tidak perlu tindakan; bila berlangsung satu jam, beri tahu developer.";
const others = "Tidak perlu tindakan; bila banyak pesan gagal, laporkan ke developer.";
const correctNumber = "Minta pengirim memperbaiki nomornya.";

const id: typeof en = {
  passkey: {
    says: "WhatsApp meminta passkey akun untuk menautkan messenger, tetapi messenger tidak dapat memakai passkey.",
    operator: "Jangan memindai berulang-ulang. Tautkan nomor yang akunnya tidak diminta passkey.",
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
    408: { says: "Koneksi terputus, atau tidak ada telepon yang memindai kode QR.", operator: nothing },
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
  refusals: {
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
    "no device": { says: "nomor tidak terdaftar di platform", operator: correctNumber },
    other: { says: "tanpa menyebutkan alasan", operator: "Laporkan kodenya ke developer." },
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
