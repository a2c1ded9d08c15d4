const en = {
  heading: "Connection",
  for: "For",
  paused: "Paused",
  connect: "Connect now",
  pausing: "Pause sending…",
  pauseEffect:
    "Messages are still accepted, but nobody gets one until sending is resumed. One-time codes expire after five minutes.",
  pause: "Pause sending",
  resume: "Resume sending",
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
  connect: "Sambungkan sekarang",
  pausing: "Jeda pengiriman…",
  pauseEffect:
    "Pesan tetap diterima, tetapi tidak ada yang dikirim sampai pengiriman dilanjutkan. Kode sekali pakai kedaluwarsa setelah lima menit.",
  pause: "Jeda pengiriman",
  resume: "Lanjutkan pengiriman",
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
