import type { Text } from "../text.ts";

/** One way in which a request can fail. */
export interface FaultWords {
  readonly status: number;
  /** As functions throw it; each envelope spells it in its own way. */
  readonly code: string;
  /** What a function says; absent where the gateway alone answers so. */
  readonly message?: string;
  /** API Gateway's response type where it answers so by itself; `firewall` for WAF's answer to one address. */
  readonly gateway?: string;
  readonly retryAfter?: boolean;
  readonly when: Text;
  readonly mend: Text;
}

const faults = {
  invalidRequest: {
    status: 400,
    code: "invalid_request",
    when: {
      en: "A parameter or field is missing, repeated or breaks its rule, or the body is not what its Content-Type says.",
      id: "Ada parameter atau isian yang kurang, berulang, atau melanggar aturannya, atau isi permintaan tidak sesuai dengan Content-Type-nya.",
    },
    mend: {
      en: "The message names each one and shows a right value; correct it and send again.",
      id: "Pesannya menyebut setiap kesalahan beserta nilai yang benar; perbaiki lalu kirim lagi.",
    },
  },
  spentToken: {
    status: 400,
    code: "invalid_grant",
    message: "The refresh token is unknown, expired or used before; log in again",
    when: {
      en: "The refresh token is unknown, has expired, or was used more than 30 seconds ago.",
      id: "Refresh token tidak dikenal, sudah kedaluwarsa, atau sudah dipakai lebih dari 30 detik yang lalu.",
    },
    mend: {
      en: "Log in again, and keep the newest refresh token only.",
      id: "Masuk (login) lagi, dan simpan hanya refresh token yang terbaru.",
    },
  },
  otherGrant: {
    status: 400,
    code: "unsupported_grant_type",
    message: "grant_type must be refresh_token: no other grant is served here",
    when: { en: "`grant_type` is another one.", id: "`grant_type` bukan yang dilayani." },
    mend: { en: "Send `grant_type=refresh_token`.", id: "Kirim `grant_type=refresh_token`." },
  },
  noKey: {
    status: 401,
    code: "unauthorized",
    gateway: "UNAUTHORIZED",
    when: {
      en: "There is no API key, or it is unknown, revoked or expired.",
      id: "Kunci API tidak ada, tidak dikenal, dicabut, atau kedaluwarsa.",
    },
    mend: {
      en: "Send your key in the header `apikey`; ask the operator for a new one.",
      id: "Kirim kunci Anda di header `apikey`; mintalah yang baru kepada pengelola.",
    },
  },
  noToken: {
    status: 401,
    code: "unauthorized",
    gateway: "UNAUTHORIZED",
    when: {
      en: "There is no access token, or it is not one of ours, or has expired.",
      id: "Token akses tidak ada, bukan terbitan layanan ini, atau kedaluwarsa.",
    },
    mend: {
      en: "Send `Authorization: Bearer` with the token of the last login or refresh.",
      id: "Kirim `Authorization: Bearer` dengan token dari login atau refresh terakhir.",
    },
  },
  expiredToken: {
    status: 401,
    code: "unauthorized",
    message: "The access token has expired; refresh it, or log in again",
    when: { en: "The access token has just expired.", id: "Token akses baru saja kedaluwarsa." },
    mend: { en: "Refresh it and ask again.", id: "Perbarui (refresh) lalu ulangi permintaan." },
  },
  noCredentials: {
    status: 401,
    code: "unauthorized",
    gateway: "UNAUTHORIZED",
    when: { en: "There are no credentials, or wrong ones.", id: "Kredensial tidak ada atau salah." },
    mend: {
      en: "Send `Authorization: Basic` with base64 of `username:password`, from a backend.",
      id: "Kirim `Authorization: Basic` dengan base64 dari `username:password`, dari backend.",
    },
  },
  wrongLogin: {
    status: 401,
    code: "unauthorized",
    message: "Username or password is wrong",
    when: {
      en: "Username or password is wrong; which of them is not told.",
      id: "Nama pengguna atau kata sandi salah; yang mana tidak diberitahukan.",
    },
    mend: {
      en: "Ask the person to type them again, and mind the limit of 5 failures.",
      id: "Minta pengguna mengetik ulang, dan ingat batas 5 kegagalan.",
    },
  },
  noScope: {
    status: 403,
    code: "forbidden",
    message: "This needs the scope resident:read, which you do not hold; ask the operator for it",
    when: {
      en: "The key or token is valid, but lacks the scope that the message names.",
      id: "Kunci atau token sah, tetapi tidak memiliki scope yang disebut pesannya.",
    },
    mend: { en: "Ask the operator for the scope.", id: "Mintalah scope itu kepada pengelola." },
  },
  ticketRefused: {
    status: 403,
    code: "ticket_refused",
    message: "The employee system does not accept this NIP and pass",
    when: {
      en: "The employee system does not accept this NIP and passphrase.",
      id: "Sistem kepegawaian tidak menerima NIP dan frasa sandi ini.",
    },
    mend: {
      en: "Ask the employee for the right passphrase; guesses are counted.",
      id: "Tanyakan frasa sandi yang benar kepada pegawai; tebakan dihitung.",
    },
  },
  firewall: {
    status: 403,
    code: "forbidden",
    gateway: "WAF_FILTERED",
    when: {
      en: "The firewall knows the address as an attacker's, or the request as an exploit.",
      id: "Firewall mengenali alamat pengirim sebagai penyerang, atau permintaan sebagai serangan.",
    },
    mend: {
      en: "If that is a mistake, tell the operator the request id.",
      id: "Jika itu keliru, beri tahu pengelola id permintaannya.",
    },
  },
  ticketNotFound: {
    status: 404,
    code: "ticket_not_found",
    message: "The ticket is unknown or has expired; get a new one",
    when: { en: "The ticket is unknown or has expired.", id: "Tiket tidak dikenal atau kedaluwarsa." },
    mend: { en: "Get a new ticket.", id: "Ambil tiket baru." },
  },
  messageNotFound: {
    status: 404,
    code: "message_not_found",
    message: "There is no message with this id",
    when: { en: "No message has this id.", id: "Tidak ada pesan dengan id ini." },
    mend: {
      en: "Use the id that the send was answered with.",
      id: "Gunakan id yang diterima saat pesan dikirim.",
    },
  },
  keyInUse: {
    status: 409,
    code: "idempotency_key_in_use",
    message: "The first request with this Idempotency-Key is still under way; try again in a moment",
    retryAfter: true,
    when: {
      en: "The first request with this Idempotency-Key is still under way.",
      id: "Permintaan pertama dengan Idempotency-Key ini masih berjalan.",
    },
    mend: {
      en: "Send the same again after `Retry-After`.",
      id: "Kirim permintaan yang sama setelah `Retry-After`.",
    },
  },
  bodyTooLarge: {
    status: 413,
    code: "payload_too_large",
    message: "The body is larger than the 65536 bytes that are allowed here",
    when: { en: "The body is over the limit.", id: "Isi permintaan melebihi batas." },
    mend: {
      en: "Send less; the message names the limit.",
      id: "Kirim lebih sedikit; pesannya menyebut batasnya.",
    },
  },
  uploadTooLarge: {
    status: 413,
    code: "payload_too_large",
    message:
      "The file is larger than the 4194304 bytes that can be uploaded; give its address in file_url or image_url instead",
    when: {
      en: "The file is over 4 MiB, what its address leads to is over its limit, or the form has too many parts.",
      id: "Berkas lebih dari 4 MiB, isi alamatnya melebihi batas, atau formulir memiliki terlalu banyak bagian.",
    },
    mend: {
      en: "Give a larger file by its address, or make it smaller.",
      id: "Berikan berkas besar lewat alamatnya, atau perkecil.",
    },
  },
  requestTooLarge: {
    status: 413,
    code: "payload_too_large",
    gateway: "REQUEST_TOO_LARGE",
    when: {
      en: "The request is larger than the gateway takes.",
      id: "Permintaan lebih besar dari yang diterima gateway.",
    },
    mend: { en: "As above.", id: "Seperti di atas." },
  },
  keyReused: {
    status: 422,
    code: "idempotency_key_reused",
    message: "This Idempotency-Key was used for another message; give each message a key of its own",
    when: {
      en: "The Idempotency-Key was used for another message within 24 hours.",
      id: "Idempotency-Key sudah dipakai untuk pesan lain dalam 24 jam terakhir.",
    },
    mend: { en: "Give each message a key of its own.", id: "Beri setiap pesan kunci sendiri." },
  },
  tooManyAttempts: {
    status: 429,
    code: "too_many_requests",
    message: "Too many failed attempts; wait and try again",
    retryAfter: true,
    when: {
      en: "5 failures within 15 minutes for the account, or 10 a minute from one place.",
      id: "5 kegagalan dalam 15 menit untuk akun itu, atau 10 per menit dari satu tempat.",
    },
    mend: { en: "Wait for `Retry-After` seconds.", id: "Tunggu selama `Retry-After` detik." },
  },
  throttled: {
    status: 429,
    code: "too_many_requests",
    gateway: "THROTTLED",
    retryAfter: true,
    when: { en: "Too many requests at once.", id: "Terlalu banyak permintaan sekaligus." },
    mend: {
      en: "Ask again after `Retry-After` seconds, and more slowly.",
      id: "Ulangi setelah `Retry-After` detik, dan lebih pelan.",
    },
  },
  overQuota: {
    status: 429,
    code: "too_many_requests",
    gateway: "QUOTA_EXCEEDED",
    retryAfter: true,
    when: {
      en: "The day's quota of the key's plan is used up.",
      id: "Kuota harian paket kunci sudah habis.",
    },
    mend: {
      en: "Ask the operator for a larger plan.",
      id: "Mintalah paket yang lebih besar kepada pengelola.",
    },
  },
  addressThrottled: {
    status: 429,
    code: "too_many_requests",
    gateway: "firewall",
    retryAfter: true,
    when: {
      en: "Too many requests from one address within a minute; this answer alone has no `request_id`.",
      id: "Terlalu banyak permintaan dari satu alamat dalam satu menit; hanya jawaban ini yang tanpa `request_id`.",
    },
    mend: {
      en: "Wait a minute. A server that logs in many people needs a higher limit: ask the operator.",
      id: "Tunggu satu menit. Server yang melayani login banyak orang perlu batas lebih tinggi: hubungi pengelola.",
    },
  },
  badBoundary: {
    status: 500,
    code: "bad_boundary",
    message: "request Content-Type has bad boundary or is not multipart/form-data",
    when: {
      en: "The Content-Type is no `multipart/form-data` with a boundary.",
      id: "Content-Type bukan `multipart/form-data` dengan boundary.",
    },
    mend: {
      en: "Let the HTTP client write that header; do not set it by hand.",
      id: "Biarkan klien HTTP menulis header itu; jangan diisi sendiri.",
    },
  },
  internal: {
    status: 500,
    code: "internal_error",
    message: "Something went wrong on our side; quote the request id when you report it",
    gateway: "DEFAULT_5XX",
    when: {
      en: "Our side failed, such as the database.",
      id: "Kesalahan di pihak kami, misalnya basis data.",
    },
    mend: {
      en: "Try again later; report it with the request id.",
      id: "Coba lagi nanti; laporkan dengan id permintaannya.",
    },
  },
  oldSystemFailed: {
    status: 502,
    code: "bad_gateway",
    message: "The system behind this service failed; try again later",
    when: {
      en: "An old system cannot be reached, or answered what was not agreed.",
      id: "Sistem lama tidak dapat dihubungi, atau menjawab di luar kesepakatan.",
    },
    mend: { en: "Try again later.", id: "Coba lagi nanti." },
  },
  serviceFailed: {
    status: 502,
    code: "bad_gateway",
    gateway: "INTEGRATION_FAILURE",
    when: { en: "The function behind the gateway broke.", id: "Fungsi di belakang gateway rusak." },
    mend: {
      en: "Try again; report it with the request id.",
      id: "Coba lagi; laporkan dengan id permintaannya.",
    },
  },
  messengerAway: {
    status: 503,
    code: "session_unavailable",
    message: "The messaging session is not available; try again",
    retryAfter: true,
    when: { en: "The session task is away.", id: "Proses sesi sedang tidak tersedia." },
    mend: { en: "Ask again after `Retry-After`.", id: "Ulangi setelah `Retry-After`." },
  },
  notAccepted: {
    status: 503,
    code: "session_unavailable",
    message: "The messaging session is not available: the message was not accepted; send it again",
    retryAfter: true,
    when: {
      en: "The session task is away: nothing was accepted.",
      id: "Proses sesi sedang tidak tersedia: tidak ada yang diterima.",
    },
    mend: { en: "Send again after `Retry-After`.", id: "Kirim lagi setelah `Retry-After`." },
  },
  outcomeUnknown: {
    status: 503,
    code: "outcome_unknown",
    message:
      "It is not known whether the message was accepted; send it again with the same Idempotency-Key, and it is sent once",
    retryAfter: true,
    when: {
      en: "The answer was lost on the way: the message may have been accepted.",
      id: "Jawaban hilang di jalan: pesan mungkin sudah diterima.",
    },
    mend: {
      en: "Send again with the same Idempotency-Key; without one it may arrive twice.",
      id: "Kirim lagi dengan Idempotency-Key yang sama; tanpa itu pesan bisa tiba dua kali.",
    },
  },
  oldSystemSlow: {
    status: 504,
    code: "timeout",
    message: "The system behind this service took too long; try again later",
    when: { en: "An old system did not answer in time.", id: "Sistem lama tidak menjawab tepat waktu." },
    mend: { en: "Try again later.", id: "Coba lagi nanti." },
  },
  tookTooLong: {
    status: 504,
    code: "timeout",
    message: "The request took too long; try again",
    gateway: "INTEGRATION_TIMEOUT",
    when: { en: "The request took too long.", id: "Permintaan terlalu lama diproses." },
    mend: {
      en: "Try again; after a send with the same Idempotency-Key.",
      id: "Coba lagi; setelah pengiriman, dengan Idempotency-Key yang sama.",
    },
  },
} as const satisfies Readonly<Record<string, FaultWords>>;

export type FaultName = keyof typeof faults;
export const faultWords: Readonly<Record<FaultName, FaultWords>> = faults;
