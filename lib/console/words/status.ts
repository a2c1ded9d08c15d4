const en = {
  heading: "Connection",
  for: "For",
  paused: "Paused",
  pause: "Pause sending",
  resume: "Resume sending",
  labels: {
    open: "Connected",
    connecting: "Connecting",
    pairing: "Not linked",
    replaced: "Replaced",
    unlinked: "Unlinked",
    stopped: "Rejected",
    banned: "Banned",
    closed: "Not connected",
    usable: "Usable",
    unreachable: "Not reachable",
    rejected: "Rejected",
    passkey: "Passkey required",
    standby: "Standby",
    unknown: "Unknown",
  },
  open: "Connected to WhatsApp.",
  connecting:
    "Connecting to WhatsApp. If this takes long, WhatsApp or the network is down; messages stay queued.",
  pairing: "No phone is linked. Link one below; until then messages stay queued.",
  replaced:
    "Another program uses this WhatsApp link and has replaced this connection. Stop that program; the messenger reclaims the link by itself.",
  stopped: (says: string) =>
    `${says} The messenger does not try to log in until you act below; messages stay queued.`,
  banned: (says: string, until: string, operator: string) =>
    `${says} The messenger does not try to log in before ${until}. ${operator} Messages stay queued.`,
  closed: (says: string, advice: string) =>
    `${says}${advice} The task reconnects automatically; messages stay queued.`,
  usable: "The platform accepts this account's requests.",
  unreachable:
    "The platform cannot be reached, or the account's settings in the secret messenger-channels cannot be read. The task tries again within a minute; messages stay queued or go on to the next channel.",
  rejected: (code: number) =>
    `The platform rejects the account, code ${code}. It is checked every minute; messages stay queued or go on to the next channel.`,
  passkey: (says: string) => `${says} See below.`,
  standby: "Another task is the leader. This one takes over when it stops.",
  leaderless: "No leader can be elected without the database.",
  unknown: "The state of the messenger is unknown.",
  sendingUnknown: "It is unknown whether sending is paused.",
  sendingPaused: "Sending is paused; messages stay queued.",
  sendingOn: "Sending is on.",
  sendingLater: "Sending starts once connected.",
  limited: (time: string) =>
    `WhatsApp accepts no messages to new contacts for another ${time}; they stay queued.`,
  tooFast: (time: string) =>
    `WhatsApp says that the account sends too fast: nothing is sent for another ${time}.`,
  cap: (used: number, total: number, time: string) =>
    `${used} of ${total} new contacts that WhatsApp allows are used; the next cycle begins in ${time}.`,
  outages: {
    directory: "WhatsApp does not answer for numbers and devices; messages to numbers not used recently",
    media: "WhatsApp's media servers accept no uploads; images and files",
  },
  outage: (service: string, time: string) => `${service} stay queued, and are tried again in ${time}.`,
};

const id: typeof en = {
  heading: "Koneksi",
  for: "Selama",
  paused: "Dijeda",
  pause: "Jeda pengiriman",
  resume: "Lanjutkan pengiriman",
  labels: {
    open: "Tersambung",
    connecting: "Menyambung",
    pairing: "Belum tertaut",
    replaced: "Digantikan",
    unlinked: "Tautan terputus",
    stopped: "Login ditolak",
    banned: "Diblokir sementara",
    closed: "Tidak tersambung",
    usable: "Dapat dipakai",
    unreachable: "Tidak terjangkau",
    rejected: "Ditolak",
    passkey: "Passkey diminta",
    standby: "Siaga",
    unknown: "Tidak diketahui",
  },
  open: "Tersambung ke WhatsApp.",
  connecting:
    "Menyambung ke WhatsApp. Bila berlangsung lama, WhatsApp atau jaringan terganggu; pesan tetap di antrean.",
  pairing: "Tidak ada telepon yang tertaut. Tautkan di bawah; sampai saat itu pesan tetap di antrean.",
  replaced:
    "Program lain memakai tautan WhatsApp ini dan menggantikan koneksi ini. Hentikan program itu; messenger mengambil kembali tautannya sendiri.",
  stopped: (says) => `${says} Login tidak dicoba sampai Anda bertindak di bawah; pesan tetap di antrean.`,
  banned: (says, until, operator) =>
    `${says} Login tidak dicoba sebelum ${until}. ${operator} Pesan tetap di antrean.`,
  closed: (says, advice) =>
    `${says}${advice} Task menyambung kembali secara otomatis; pesan tetap di antrean.`,
  usable: "Platform menerima permintaan dari akun ini.",
  unreachable:
    "Platform tidak dapat dijangkau, atau setelan akun dalam secret messenger-channels tidak dapat dibaca. Task mencoba lagi dalam satu menit; pesan tetap mengantre atau diteruskan ke kanal berikutnya.",
  rejected: (code) =>
    `Platform menolak akun ini, kode ${code}. Akun diperiksa setiap menit; pesan tetap mengantre atau diteruskan ke kanal berikutnya.`,
  passkey: (says) => `${says} Lihat di bawah.`,
  standby: "Task lain adalah leader. Task ini mengambil alih bila leader berhenti.",
  leaderless: "Tanpa basis data tidak ada leader yang dapat dipilih.",
  unknown: "Status messenger tidak diketahui.",
  sendingUnknown: "Tidak diketahui apakah pengiriman dijeda.",
  sendingPaused: "Pengiriman dijeda; pesan tetap di antrean.",
  sendingOn: "Pengiriman berjalan.",
  sendingLater: "Pengiriman dimulai setelah tersambung.",
  limited: (time) =>
    `WhatsApp tidak menerima pesan ke kontak baru selama ${time} lagi; pesan tetap di antrean.`,
  tooFast: (time) =>
    `WhatsApp menyatakan akun mengirim terlalu cepat: tidak ada yang dikirim selama ${time} lagi.`,
  cap: (used, total, time) =>
    `${used} dari ${total} kontak baru yang diizinkan WhatsApp sudah terpakai; siklus berikutnya mulai dalam ${time}.`,
  outages: {
    directory:
      "WhatsApp tidak merespons pengecekan nomor dan perangkat; pesan ke nomor yang sudah lama tidak dihubungi",
    media: "Server media WhatsApp tidak menerima unggahan; gambar dan berkas",
  },
  outage: (service, time) => `${service} tetap di antrean dan akan dicoba lagi dalam ${time}.`,
};

/** The connection. */
export const status = { en, id };
