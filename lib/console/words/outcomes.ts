const en = {
  notices: {
    notAllowed: (role: string) => `Your role does not allow this: it requires the role ${role}.`,
    notRecorded:
      "Nothing was done: the action could not be recorded, because the database is not responding.",
    outcomeUnknown: (seconds: number) =>
      `No answer within ${seconds} s: the outcome is unknown. Check the connection on the page “Now” before you try again.`,
    paused: "Sending paused.",
    resumed: "Sending resumed.",
    pairingCode: (code: string) => `Pairing code: ${code}. Enter it on the phone.`,
    unlinked: "Phone unlinked.",
    unlinkedHere:
      "The keys are deleted, but WhatsApp has not confirmed it: if the phone still lists the device under Linked devices, remove it there.",
    connecting: "Connecting to WhatsApp. The page “Now” shows the result.",
    optedOut: (phone: string) => `${phone} has opted out.`,
    optedOutBefore: (phone: string) => `${phone} had already opted out.`,
    optedIn: (phone: string) => `${phone} has opted in again.`,
    notOptedOut: (phone: string) => `${phone} had not opted out.`,
    answerSet: "Automatic answer saved.",
    answerRemoved: "No automatic answer is sent any more.",
    runCancelled: (count: number) =>
      `Run cancelled: ${count} ${count === 1 ? "message" : "messages"} that waited will not be sent.`,
    previewed: "Preview below. Nothing has been sent.",
    started: (run: string) => `The run ${run} has started. Its progress is shown below.`,
    templateAdded: (name: string, version: number) =>
      `${name} ${version} is a draft. Another operator approves it.`,
    templateApproved: (name: string, version: number) => `${name} ${version} is sent from now on.`,
    templateRetired: (name: string, version: number) => `${name} ${version} is not sent any more.`,
  },
  failures: {
    pause: "Sending could not be paused: the database is not responding.",
    resume: "Sending could not be resumed: the database is not responding.",
    "pairing-code": "WhatsApp returned no pairing code. Try again, or use the QR code.",
    unlink:
      "Unlinking failed: WhatsApp or the database is not responding. Check the connection on the page “Now”.",
    notStopped:
      "Nothing was done: it is connecting already, or the database is not responding. Check the connection on the page “Now”.",
    optOut: "The number was not changed: the database is not responding.",
    phone: "Invalid phone number: enter it with + and its country code, such as +62 812 3456 7890.",
    unconfirmed: (word: string) => `The phone was not unlinked: type ${word} to confirm.`,
    optOutUnconfirmed: "The number was not changed: tick the box to confirm.",
    answer: "The automatic answer was not changed: the database is not responding.",
    badAnswer: (max: number) => `The automatic answer was not changed: enter 1 to ${max} characters.`,
    cancelRun: "The run was not cancelled: the database is not responding.",
    runUnconfirmed: "The run was not cancelled: tick the box to confirm.",
    noRun: "There is no such bulk run.",
    notLeader: "Another task leads; use its console, or stop it.",
    rejected: (reason: string) => `Nothing was sent or changed: ${reason}`,
    preview: "There is no preview: the database is not responding.",
    start:
      "The run was not started, or it stops after the messages that it has handed over: the database is not responding. Check the runs below; sending the same file under the same name notifies nobody twice.",
    template: "The template was not changed: the database is not responding.",
    badRunName: "The name of a run has 1 to 80 lower-case letters, digits and dashes.",
    badTemplateName: "The name of a template has 1 to 60 lower-case letters, digits and dashes.",
    badValues: (line: string) => `Write each value as name=rule, such as name=words:60, not ${line}.`,
    badText: (max: number) => `The text has more than ${max} characters.`,
    fileTooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB: split it.`,
    tooManyFiles: "Others are sending files right now: try again in a moment.",
  },
};

const id: typeof en = {
  notices: {
    notAllowed: (role) => `Peran Anda tidak mengizinkan ini: diperlukan peran ${role}.`,
    notRecorded: "Tidak ada yang dilakukan: tindakan tidak dapat dicatat, karena basis data tidak merespons.",
    outcomeUnknown: (seconds) =>
      `Tidak ada jawaban dalam ${seconds} detik: hasilnya tidak diketahui. Periksa koneksi di halaman “Sekarang” sebelum mencoba lagi.`,
    paused: "Pengiriman dijeda.",
    resumed: "Pengiriman dilanjutkan.",
    pairingCode: (code) => `Kode penautan: ${code}. Masukkan di telepon.`,
    unlinked: "Tautan telepon dilepas.",
    unlinkedHere:
      "Kuncinya sudah dihapus, tetapi WhatsApp belum mengonfirmasi. Bila perangkat ini masih tampil di menu Perangkat tertaut pada telepon, hapus dari sana.",
    connecting: "Menyambung ke WhatsApp. Hasilnya ada di halaman “Sekarang”.",
    optedOut: (phone) => `${phone} sudah terdaftar opt-out.`,
    optedOutBefore: (phone) => `${phone} sudah opt-out sebelumnya.`,
    optedIn: (phone) => `Opt-out ${phone} sudah dibatalkan.`,
    notOptedOut: (phone) => `${phone} tidak terdaftar opt-out.`,
    answerSet: "Jawaban otomatis disimpan.",
    answerRemoved: "Jawaban otomatis tidak dikirim lagi.",
    runCancelled: (count) => `Pengiriman massal dibatalkan: ${count} pesan yang menunggu tidak akan dikirim.`,
    previewed: "Pratinjau ada di bawah. Belum ada yang dikirim.",
    started: (run) => `Pengiriman ${run} sudah dimulai. Kemajuannya ditampilkan di bawah.`,
    templateAdded: (name, version) => `${name} ${version} menjadi draf. Operator lain yang menyetujuinya.`,
    templateApproved: (name, version) => `${name} ${version} dikirim mulai sekarang.`,
    templateRetired: (name, version) => `${name} ${version} tidak dikirim lagi.`,
  },
  failures: {
    pause: "Pengiriman tidak dapat dijeda: basis data tidak merespons.",
    resume: "Pengiriman tidak dapat dilanjutkan: basis data tidak merespons.",
    "pairing-code": "WhatsApp tidak memberikan kode penautan. Coba lagi, atau gunakan kode QR.",
    unlink:
      "Pelepasan tautan gagal: WhatsApp atau basis data tidak merespons. Periksa koneksi di halaman “Sekarang”.",
    notStopped:
      "Tidak ada yang dilakukan: sedang menyambung, atau basis data tidak merespons. Periksa koneksi di halaman “Sekarang”.",
    optOut: "Nomor tidak diubah: basis data tidak merespons.",
    phone: "Nomor telepon tidak valid: masukkan dengan + dan kode negaranya, misalnya +62 812 3456 7890.",
    unconfirmed: (word) => `Tautan telepon tidak dilepas: ketik ${word} untuk mengonfirmasi.`,
    optOutUnconfirmed: "Nomor tidak diubah: centang kotak untuk mengonfirmasi.",
    answer: "Jawaban otomatis tidak diubah: basis data tidak merespons.",
    badAnswer: (max) => `Jawaban otomatis tidak diubah: masukkan 1 sampai ${max} karakter.`,
    cancelRun: "Pengiriman massal tidak dibatalkan: basis data tidak merespons.",
    runUnconfirmed: "Pengiriman massal tidak dibatalkan: centang kotak untuk mengonfirmasi.",
    noRun: "Pengiriman massal itu tidak ada.",
    notLeader: "Task lain adalah leader; gunakan konsolnya, atau hentikan task itu.",
    rejected: (reason) => `Tidak ada yang dikirim atau diubah: ${reason}`,
    preview: "Pratinjau tidak tersedia: basis data tidak merespons.",
    start:
      "Pengiriman tidak dimulai, atau berhenti setelah pesan yang sudah diteruskan: basis data tidak merespons. Periksa pengiriman di bawah; berkas yang sama dengan nama yang sama tidak mengirim dua kali kepada siapa pun.",
    template: "Template tidak diubah: basis data tidak merespons.",
    badRunName: "Nama pengiriman terdiri dari 1 sampai 80 huruf kecil, angka, dan tanda hubung.",
    badTemplateName: "Nama template terdiri dari 1 sampai 60 huruf kecil, angka, dan tanda hubung.",
    badValues: (line) => `Tulis setiap nilai sebagai nama=aturan, misalnya name=words:60, bukan ${line}.`,
    badText: (max) => `Teksnya lebih dari ${max} karakter.`,
    fileTooLarge: (megabytes) => `Berkasnya lebih dari ${megabytes} MB: bagi menjadi beberapa berkas.`,
    tooManyFiles: "Operator lain sedang mengirim berkas: coba lagi sebentar lagi.",
  },
};

/** What an action has done. */
export const outcomes = { en, id };
