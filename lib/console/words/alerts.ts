import { rejections } from "#lib/channels/whatsapp/codes.ts";

const en = {
  heading: "What is wrong",
  none: "Everything is working; nothing to do.",
  waiting: "Nothing is sent at the moment.",
  noneStandby:
    "Nothing in the outbox needs attention. This task stands by; the leader's console shows the connection.",
  count: (count: number) =>
    count === 1 ? "1 problem needs attention." : `${count} problems need attention.`,
  columns: { what: "Problem", since: "Since", effect: "What citizens notice", todo: "What to do" },
  more: "Read more",
  seeAlso: "See",
  effects: {
    nothingSent: "No messages arrive. One-time codes expire after five minutes; other messages are late.",
    nothingAccepted: "No messages arrive, and apps cannot submit any.",
    oneAccount: "Messages of this account are late, unless another account of its pool sends them.",
    newContacts: "People who were never written to get no messages until then.",
    staleNumbers: "People who were not written to recently get no messages.",
    media: "Images and files are late; texts arrive.",
    late: "Messages are late. A one-time code that is too old is not sent.",
    someFail: "Some people do not get their message.",
    unwanted: "People who asked for no more reminders still get them.",
    backends: "Nothing, but apps show old states of messages.",
    reminders: "The messages of this job do not arrive.",
    none: "Nothing, as long as messages go out.",
    unknown: "Unknown: messages may be late.",
  },
  state: {
    what: "The messenger is running, but its state cannot be read.",
    todo: "See its log.",
  },
  unavailable: {
    what: "The database is unavailable: no messages are accepted or sent, and queue and messages cannot be shown.",
    todo: "Restore the database. Only the connection status is up to date.",
  },
  slow: {
    what: "The database responds, but has no connection left for the console, or takes longer than 2 s to read queue and messages: they cannot be shown.",
    todo: "Find out what keeps the database busy. Only the connection status is up to date.",
  },
  otherAccount: (name: string) => ({
    what: `The account ${name} cannot send: it is not linked, has no valid settings, or its platform rejects it.`,
    todo: "Choose it on the page “Accounts”.",
  }),
  otherUnreachable: (name: string) => ({
    what: `The account ${name} is not connected to its platform: it sends nothing.`,
    todo: "Choose it on the page “Accounts”. If none can be reached, check the network.",
  }),
  paused: {
    what: "Sending is paused: messages stay queued until they expire.",
    todo: "Ask who paused it and why; then press “Resume sending”.",
  },
  pausedBy: (name: string) => ({
    what: `${name} paused sending: messages stay queued until they expire.`,
    todo: `Ask ${name} why; then press “Resume sending”.`,
  }),
  limited: {
    what: (end: string) => `WhatsApp accepts no messages to new contacts until ${end}; they stay queued.`,
    todo: "Stop bulk senders. Do not restart the task or unlink the phone.",
  },
  tooFast: {
    what: (end: string) =>
      `WhatsApp says that the account sends too fast: nothing is sent until ${end}; messages stay queued.`,
    todo: rejections["429"].operator,
  },
  outage: {
    what: (service: string) => `${service} stay queued.`,
    todo: "Nothing: the messenger retries every 2 minutes at the latest. If it lasts an hour, tell the developers.",
  },
  urgentOld: {
    what: (age: string) => `A one-time code or transactional message has waited for ${age}.`,
    todo: "See why on the page “Messages”.",
  },
  old: {
    what: (age: string) => `A reminder or bulk message has waited for ${age}; messages expire after 72 h.`,
    todo: "Ask the sender of the least important messages to stop.",
  },
  unresolved: {
    what: (count: number) =>
      `${count} ${count === 1 ? "reply" : "replies"} such as STOP came from people whose number the platform hides: they still get reminders.`,
    todo: "Find out who wrote, such as on the linked phone, and opt these numbers out on the page “Messages”. After a week this is no longer shown.",
  },
  callback: {
    what: (host: string, sender: string) =>
      `The address for callbacks of ${sender} at ${host} has answered 410 and is disabled: the backend learns no more states.`,
    todo: (sender: string) =>
      `Ask the owners of the backend. Add the address again or remove it; both commands need it as it is in: npm run city -- callback list ${sender}`,
  },
  callbackRedirects: {
    what: (host: string, sender: string) =>
      `The address for callbacks of ${sender} at ${host} answers with a redirect, which is not followed: the backend learns no states.`,
    todo: (sender: string) =>
      `Ask the owners of the backend for the address that it leads to, remove this one, and add theirs. See: npm run city -- callback list ${sender}`,
  },
  callbackFails: {
    what: (host: string, sender: string) =>
      `The address for callbacks of ${sender} at ${host} fails: changes wait, and become dead letters after 24 h.`,
    todo: (sender: string) =>
      `Ask the owners of the backend. To see what it answers: npm run city -- callback test ${sender}`,
  },
  failing: {
    what: (failed: number, of: number, reasons: string, senders: string, accounts: string) =>
      `${failed} of the last ${of} messages failed: ${reasons}. Senders: ${senders}. Accounts: ${accounts}.`,
    todo: "See what the code means on the page “Messages”. If it is about the account, stop bulk senders.",
  },
  job: {
    what: (job: string, reason: string) => `The job ${job} failed: ${reason}.`,
    todo: (command: string) => `Fix the reason, then run: ${command}`,
  },
};

const id: typeof en = {
  heading: "Yang bermasalah",
  none: "Semua berfungsi; tidak ada yang perlu ditangani.",
  waiting: "Saat ini tidak ada yang dikirim.",
  noneStandby:
    "Tidak ada yang perlu ditangani di outbox. Task ini bersiaga; konsol leader menampilkan koneksinya.",
  count: (count) => `${count} masalah perlu ditangani.`,
  columns: {
    what: "Masalah",
    since: "Sejak",
    effect: "Yang dirasakan warga",
    todo: "Yang harus dilakukan",
  },
  more: "Selengkapnya",
  seeAlso: "Lihat",
  effects: {
    nothingSent:
      "Tidak ada pesan yang tiba. Kode sekali pakai kedaluwarsa setelah lima menit; pesan lain terlambat.",
    nothingAccepted: "Tidak ada pesan yang tiba, dan aplikasi tidak dapat mengirim pesan baru.",
    oneAccount: "Pesan akun ini terlambat, kecuali dikirim akun lain dalam pool-nya.",
    newContacts: "Orang yang belum pernah dikirimi pesan tidak menerima pesan sampai saat itu.",
    staleNumbers: "Orang yang sudah lama tidak dikirimi pesan tidak menerima pesan.",
    media: "Gambar dan berkas terlambat; teks tetap tiba.",
    late: "Pesan terlambat. Kode sekali pakai yang terlalu lama tidak dikirim.",
    someFail: "Sebagian orang tidak menerima pesannya.",
    unwanted: "Orang yang meminta berhenti masih menerima pengingat.",
    backends: "Tidak ada, tetapi aplikasi menampilkan status pesan yang lama.",
    reminders: "Pesan dari job ini tidak tiba.",
    none: "Tidak ada, selama pesan masih terkirim.",
    unknown: "Tidak diketahui: pesan mungkin terlambat.",
  },
  state: {
    what: "Messenger berjalan, tetapi statusnya tidak dapat dibaca.",
    todo: "Lihat log-nya.",
  },
  unavailable: {
    what: "Basis data tidak tersedia: tidak ada pesan yang diterima atau dikirim, dan antrean serta pesan tidak dapat ditampilkan.",
    todo: "Pulihkan basis data. Hanya status koneksi yang aktual.",
  },
  slow: {
    what: "Basis data merespons, tetapi tidak ada koneksi tersisa untuk konsol, atau pembacaan antrean dan pesan melebihi 2 detik sehingga keduanya tidak dapat ditampilkan.",
    todo: "Cari tahu apa yang membuat basis data sibuk. Hanya status koneksi yang aktual.",
  },
  otherAccount: (name) => ({
    what: `Akun ${name} tidak dapat mengirim: belum ditautkan, setelannya belum benar, atau ditolak platformnya.`,
    todo: "Pilih akun itu di halaman “Akun”.",
  }),
  otherUnreachable: (name) => ({
    what: `Akun ${name} tidak tersambung ke platformnya: akun ini tidak mengirim apa pun.`,
    todo: "Pilih akun itu di halaman “Akun”. Bila tidak ada yang terjangkau, periksa jaringan.",
  }),
  paused: {
    what: "Pengiriman dijeda: pesan tetap di antrean sampai kedaluwarsa.",
    todo: "Tanyakan siapa yang menjeda dan mengapa; lalu tekan “Lanjutkan pengiriman”.",
  },
  pausedBy: (name: string) => ({
    what: `${name} menjeda pengiriman: pesan tetap di antrean sampai kedaluwarsa.`,
    todo: `Tanyakan alasannya kepada ${name}; lalu tekan “Lanjutkan pengiriman”.`,
  }),
  limited: {
    what: (end) => `WhatsApp tidak menerima pesan ke kontak baru sampai ${end}; pesan tetap di antrean.`,
    todo: "Hentikan pengirim massal. Jangan memulai ulang task atau melepas tautan telepon.",
  },
  tooFast: {
    what: (end) =>
      `WhatsApp menyatakan akun mengirim terlalu cepat: tidak ada yang dikirim sampai ${end}; pesan tetap di antrean.`,
    todo: "Hentikan pengirim massal. Jangan menaikkan laju pengiriman.",
  },
  outage: {
    what: (service) => `${service} tetap di antrean.`,
    todo: "Tidak perlu tindakan: messenger mencoba lagi paling lambat setiap 2 menit. Bila berlangsung satu jam, beri tahu developer.",
  },
  urgentOld: {
    what: (age) => `Kode sekali pakai atau pesan transaksional sudah menunggu ${age}.`,
    todo: "Lihat sebabnya di halaman “Pesan”.",
  },
  old: {
    what: (age) => `Pengingat atau pesan massal sudah menunggu ${age}; pesan kedaluwarsa setelah 72 jam.`,
    todo: "Minta pengirim pesan yang paling tidak penting untuk berhenti.",
  },
  unresolved: {
    what: (count) =>
      `${count} balasan seperti STOP datang dari orang yang nomornya disembunyikan platform: mereka masih menerima pengingat.`,
    todo: "Cari tahu siapa yang menulis, misalnya di telepon yang tertaut, lalu hentikan pengingat ke nomor itu di halaman “Pesan”. Setelah seminggu ini tidak ditampilkan lagi.",
  },
  callback: {
    what: (host, sender) =>
      `Alamat callback ${sender} di ${host} menjawab 410 dan dinonaktifkan: backend itu tidak menerima status lagi.`,
    todo: (sender) =>
      `Tanyakan kepada pemilik backend. Tambahkan lagi alamatnya atau hapus; alamat lengkapnya ada di: npm run city -- callback list ${sender}`,
  },
  callbackRedirects: {
    what: (host, sender) =>
      `Alamat callback ${sender} di ${host} menjawab dengan pengalihan, yang tidak diikuti: backend itu tidak menerima status.`,
    todo: (sender) =>
      `Minta alamat tujuannya kepada pemilik backend, hapus alamat ini, lalu tambahkan yang baru. Lihat: npm run city -- callback list ${sender}`,
  },
  callbackFails: {
    what: (host, sender) =>
      `Alamat callback ${sender} di ${host} gagal: perubahan menunggu, dan menjadi dead letter setelah 24 jam.`,
    todo: (sender) =>
      `Tanyakan kepada pemilik backend. Untuk melihat jawabannya: npm run city -- callback test ${sender}`,
  },
  failing: {
    what: (failed, of, reasons, senders, accounts) =>
      `${failed} dari ${of} pesan terakhir gagal: ${reasons}. Pengirim: ${senders}. Akun: ${accounts}.`,
    todo: "Lihat arti kodenya di halaman “Pesan”. Bila menyangkut akun, hentikan pengirim massal.",
  },
  job: {
    what: (job, reason) => `Job ${job} gagal: ${reason}.`,
    todo: (command) => `Atasi sebabnya, lalu jalankan: ${command}`,
  },
};

/** What is wrong, and what to do. */
export const alerts = { en, id };
