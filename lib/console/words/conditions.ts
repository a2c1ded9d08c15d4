interface ConditionWords {
  readonly label: string;
  /** With {says} and {operator} of the platform's code, {code}, {until} and {retry}. */
  readonly what: string;
  readonly todo?: string;
}

type Name =
  | (
      | "open"
      | "usable"
      | "connecting"
      | "pairing"
      | "passkey"
      | "replaced"
      | "unlinked"
      | "stopped"
      | "banned"
    )
  | ("disconnected" | "unreachable" | "rejected" | "standby" | "leaderless" | "unknown");
type Conditions = Readonly<Record<Name, ConditionWords>>;

const en: Conditions = {
  open: { label: "Connected", what: "Connected to WhatsApp." },
  usable: { label: "Usable", what: "The platform accepts this account's requests." },
  connecting: {
    label: "Connecting",
    what: "Connecting to the platform; messages stay queued. {retry}",
    todo: "Nothing: this usually takes seconds.",
  },
  pairing: {
    label: "Not linked",
    what: "No phone is linked: nothing is sent.",
    todo: "Link a phone on the page “Now”; until then messages stay queued.",
  },
  passkey: { label: "Passkey required", what: "{says}", todo: "{operator}" },
  replaced: {
    label: "Replaced",
    what: "Another program uses this WhatsApp link and has replaced this connection: nothing is sent.",
    todo: "Stop that program; the messenger reclaims the link by itself.",
  },
  unlinked: {
    label: "Unlinked",
    what: "{says} The messenger does not try to log in (code {code}).",
    todo: "{operator}",
  },
  stopped: {
    label: "Rejected",
    what: "{says} The messenger does not try to log in (code {code}).",
    todo: "{operator}",
  },
  banned: {
    label: "Banned",
    what: "{says} The messenger does not try to log in before {until}.",
    todo: "{operator}",
  },
  disconnected: {
    label: "Not connected",
    what: "{says} Nothing is sent. {retry}",
    todo: "The task reconnects automatically; messages stay queued. {operator}",
  },
  unreachable: {
    label: "Not reachable",
    what: "The platform of this account cannot be reached, or its settings cannot be read: it sends nothing.",
    todo: "Check the network and the account's settings. The task tries again within a minute.",
  },
  rejected: {
    label: "Rejected",
    what: "The platform rejects this account, code {code}: it sends nothing.",
    todo: "Correct the account at the platform, or its settings. The account is checked every minute.",
  },
  standby: { label: "Standby", what: "Another task is the leader. This one takes over when it stops." },
  leaderless: { label: "Standby", what: "No leader can be elected without the database." },
  unknown: { label: "Unknown", what: "The state of the messenger is unknown." },
};

const id: Conditions = {
  open: { label: "Tersambung", what: "Tersambung ke WhatsApp." },
  usable: { label: "Dapat dipakai", what: "Platform menerima permintaan dari akun ini." },
  connecting: {
    label: "Menyambung",
    what: "Sedang menyambung ke platform; pesan tetap di antrean. {retry}",
    todo: "Tidak ada: ini biasanya hanya beberapa detik.",
  },
  pairing: {
    label: "Belum tertaut",
    what: "Tidak ada telepon yang tertaut: tidak ada yang dikirim.",
    todo: "Tautkan telepon di halaman “Sekarang”; sampai saat itu pesan tetap di antrean.",
  },
  passkey: { label: "Passkey diminta", what: "{says}", todo: "{operator}" },
  replaced: {
    label: "Digantikan",
    what: "Program lain memakai tautan WhatsApp ini dan menggantikan koneksi ini: tidak ada yang dikirim.",
    todo: "Hentikan program itu; messenger mengambil kembali tautannya sendiri.",
  },
  unlinked: {
    label: "Tautan terputus",
    what: "{says} Login tidak dicoba (kode {code}).",
    todo: "{operator}",
  },
  stopped: { label: "Login ditolak", what: "{says} Login tidak dicoba (kode {code}).", todo: "{operator}" },
  banned: {
    label: "Diblokir sementara",
    what: "{says} Login tidak dicoba sebelum {until}.",
    todo: "{operator}",
  },
  disconnected: {
    label: "Tidak tersambung",
    what: "{says} Tidak ada yang dikirim. {retry}",
    todo: "Task menyambung kembali secara otomatis; pesan tetap di antrean. {operator}",
  },
  unreachable: {
    label: "Tidak terjangkau",
    what: "Platform akun ini tidak dapat dijangkau, atau setelannya tidak dapat dibaca: akun ini tidak mengirim apa pun.",
    todo: "Periksa jaringan dan setelan akun. Task mencoba lagi dalam satu menit.",
  },
  rejected: {
    label: "Ditolak",
    what: "Platform menolak akun ini, kode {code}: akun ini tidak mengirim apa pun.",
    todo: "Perbaiki akun di platformnya, atau setelannya. Akun diperiksa setiap menit.",
  },
  standby: { label: "Siaga", what: "Task lain adalah leader. Task ini mengambil alih bila leader berhenti." },
  leaderless: { label: "Siaga", what: "Tanpa basis data tidak ada leader yang dapat dipilih." },
  unknown: { label: "Tidak diketahui", what: "Status messenger tidak diketahui." },
};

/** What can be so with a connection: on its card, and in the list of what is wrong. */
export const conditions = { en, id };
