import type { ErrorName } from "#lib/errors/table.ts";
import type { Text } from "../words.ts";

/** What each fault means and what the caller can do about it. */
export const errorWords: Readonly<Record<ErrorName, Text>> = {
  invalidRequest: {
    en: "A parameter or field is missing, repeated or invalid, a query parameter is unknown, or the body does not match its Content-Type. Correct what the message names, then send the request again.",
    id: "Ada parameter atau field yang kurang, berulang, atau tidak valid, ada parameter query yang tidak dikenal, atau body tidak sesuai dengan Content-Type. Perbaiki yang disebut dalam pesan, lalu kirim ulang.",
  },
  spentToken: {
    en: "The refresh token is unknown, has expired, was used before (a repetition within 30 seconds is allowed), or its account is closed. Log in again, and store only the newest refresh token.",
    id: "Refresh token tidak dikenal, sudah kedaluwarsa, sudah pernah dipakai (pengulangan dalam 30 detik diperbolehkan), atau akunnya sudah ditutup. Login ulang, dan simpan hanya refresh token terbaru.",
  },
  otherGrant: {
    en: "`grant_type` has another value. Send `grant_type=refresh_token`.",
    id: "Nilai `grant_type` tidak didukung. Kirim `grant_type=refresh_token`.",
  },
  unreadable: {
    en: "The gateway cannot read the request as HTTP. Use a standard HTTP client.",
    id: "Gateway tidak dapat membaca permintaan sebagai HTTP. Gunakan klien HTTP standar.",
  },
  noKey: {
    en: "The API key is missing, unknown, revoked or expired. Send an active key in the header `apikey`; the operator issues new ones.",
    id: "Kunci API tidak ada, tidak dikenal, sudah dicabut, atau kedaluwarsa. Kirim kunci yang aktif di header `apikey`; kunci baru diterbitkan oleh pengelola.",
  },
  noToken: {
    en: "The access token is missing, invalid or expired. Send `Authorization: Bearer` with the token from the last login or refresh.",
    id: "Token akses tidak ada, tidak valid, atau kedaluwarsa. Kirim `Authorization: Bearer` dengan token dari login atau refresh terakhir.",
  },
  expiredToken: {
    en: "The access token has just expired. Refresh it and send the request again.",
    id: "Token akses baru saja kedaluwarsa. Lakukan refresh, lalu kirim ulang permintaan.",
  },
  noCredentials: {
    en: "The credentials are missing or wrong. Send `Authorization: Basic` with the base64 of `username:password`, from a backend only.",
    id: "Kredensial tidak ada atau salah. Kirim `Authorization: Basic` dengan base64 dari `username:password`, hanya dari backend.",
  },
  wrongLogin: {
    en: "The username or the password is wrong; the response does not say which. Ask the user for both again: logins are rate-limited after 5 failures.",
    id: "Nama pengguna atau kata sandi salah; respons tidak menyebutkan yang mana. Minta pengguna mengisi ulang keduanya: setelah 5 kegagalan, login dibatasi sementara.",
  },
  noReportToken: {
    en: "The token of a gateway's report is missing or wrong, or the account gets no reports; the response does not say which. Only gateways whose settings the operator has entered can send one.",
    id: "Token laporan gateway tidak ada atau salah, atau akun tidak menerima laporan; respons tidak menyebutkan yang mana. Hanya gateway yang pengaturannya sudah dimasukkan pengelola yang dapat mengirimnya.",
  },
  wrongSignature: {
    en: "The signature of a platform's notification is missing or wrong. Only platforms whose credentials the operator has entered can send one.",
    id: "Tanda tangan notifikasi platform tidak ada atau salah. Hanya platform yang kredensialnya sudah dimasukkan pengelola yang dapat mengirimnya.",
  },
  noScope: {
    en: "The key or token is valid but lacks the scope that the message names. Ask the operator to grant it.",
    id: "Kunci atau token valid, tetapi tidak memiliki scope yang disebut dalam pesan. Minta scope itu kepada pengelola.",
  },
  noAccess: {
    en: "The credentials do not give access to this endpoint. Ask the operator for access.",
    id: "Kredensial tidak memberi akses ke endpoint ini. Minta akses kepada pengelola.",
  },
  nameNotAgreed: {
    en: "The agreement of the key does not have the field `nama`, which searches by name would tell. Search by `p_nik` alone, or ask the operator for the field.",
    id: "Perjanjian kunci ini tidak memuat field `nama`, yang dapat terungkap lewat pencarian nama. Cari hanya dengan `p_nik`, atau minta field itu kepada pengelola.",
  },
  classNotAllowed: {
    en: "This sender may not send messages of this class; the message names those that it may. Send one of them, or ask the operator for another. Nothing was accepted.",
    id: "Pengirim ini tidak boleh mengirim pesan kelas ini; pesan kesalahan menyebutkan kelas yang boleh. Kirim salah satunya, atau minta kelas lain kepada pengelola. Tidak ada yang diterima.",
  },
  firewall: {
    en: "The firewall blocked a known attacker's address or an exploit. If that is a mistake, send the request ID to the operator.",
    id: "Firewall memblokir alamat penyerang yang dikenal atau sebuah eksploit. Jika itu keliru, kirim ID permintaan kepada pengelola.",
  },
  ticketRefused: {
    en: "The employee system rejected this NIP and passphrase. Ask the employee for the correct passphrase; attempts are rate-limited.",
    id: "Sistem kepegawaian menolak NIP dan frasa sandi ini. Minta frasa sandi yang benar kepada pegawai; percobaan dibatasi.",
  },
  noEndpoint: {
    en: "No endpoint matches the path and method. Check both in the reference.",
    id: "Tidak ada endpoint dengan path dan metode ini. Periksa keduanya di referensi.",
  },
  noGuide: {
    en: "No guide has this name. All guides are listed at `/docs`.",
    id: "Tidak ada panduan dengan nama ini. Semua panduan terdaftar di `/docs`.",
  },
  optedOut: {
    en: "The message is a reminder or a bulk message, and its recipient has opted out of these; it was not accepted. Transactional messages and one-time codes still reach the number. Do not send it again.",
    id: "Pesan ini pengingat atau pesan massal, dan penerimanya sudah berhenti menerimanya; pesan tidak diterima. Pesan transaksional dan kode sekali pakai tetap sampai ke nomor itu. Jangan kirim ulang.",
  },
  ticketNotFound: {
    en: "The ticket is unknown, has expired, or was issued to another account. Get a new one.",
    id: "Tiket tidak dikenal, sudah kedaluwarsa, atau diterbitkan untuk akun lain. Ambil tiket baru.",
  },
  messageNotFound: {
    en: "None of the sender's messages has this ID. Use the ID from the response to the send request.",
    id: "Tidak ada pesan dari pengirim ini dengan ID itu. Gunakan ID dari respons saat pesan dikirim.",
  },
  notWaiting: {
    en: "The message is being sent, may have been sent, or has ended, so it cannot be cancelled. `GET /messages/{id}` returns its state.",
    id: "Pesan sedang dikirim, mungkin sudah terkirim, atau sudah selesai, sehingga tidak dapat dibatalkan. `GET /messages/{id}` menampilkan statusnya.",
  },
  keyInUse: {
    en: "The first request with this Idempotency-Key is still in progress. Send the same request again after `Retry-After` seconds.",
    id: "Permintaan pertama dengan Idempotency-Key ini masih diproses. Kirim ulang permintaan yang sama setelah `Retry-After` detik.",
  },
  bodyTooLarge: {
    en: "The body is over the limit that the message names. Send less data.",
    id: "Body melebihi batas yang disebut dalam pesan. Kirim lebih sedikit data.",
  },
  uploadTooLarge: {
    en: "The uploaded file is over 4 MiB, the file at the given URL is over its limit, or the form has too many parts. Send a large file by URL, or make it smaller.",
    id: "Berkas yang diunggah lebih dari 4 MiB, berkas di URL yang diberikan melebihi batasnya, atau formulir memiliki terlalu banyak bagian. Kirim berkas besar lewat URL, atau perkecil ukurannya.",
  },
  requestTooLarge: {
    en: "The request is over the gateway's limit. Send less data; on the messaging API, send the URL of a large file in `file_url` or `image_url`.",
    id: "Permintaan melebihi batas gateway. Kirim lebih sedikit data; di API perpesanan, kirim URL berkas besar di `file_url` atau `image_url`.",
  },
  keyReused: {
    en: "The Idempotency-Key was used for another message within 24 hours. Use a new key for each message.",
    id: "Idempotency-Key sudah dipakai untuk pesan lain dalam 24 jam terakhir. Gunakan kunci baru untuk setiap pesan.",
  },
  tooManyAttempts: {
    en: "There were 5 failed attempts for the account from this network within 15 minutes, 30 from all networks within an hour, or 10 from one network or requesting account within a minute. Wait for `Retry-After` seconds.",
    id: "Ada 5 percobaan gagal untuk akun ini dari jaringan ini dalam 15 menit, 30 dari semua jaringan dalam satu jam, atau 10 dari satu jaringan atau akun peminta dalam satu menit. Tunggu selama `Retry-After` detik.",
  },
  throttled: {
    en: "There are too many requests at once. Retry after `Retry-After` seconds, at a lower rate.",
    id: "Terlalu banyak permintaan sekaligus. Coba lagi setelah `Retry-After` detik, dengan laju lebih rendah.",
  },
  tooManyUnknownNumbers: {
    en: "The partner has searched for 200 numbers within a day that no resident has. Check the source of the numbers; searches by number work again after `Retry-After` seconds, searches by name at once.",
    id: "Mitra telah mencari 200 nomor dalam sehari yang tidak dimiliki penduduk mana pun. Periksa sumber nomornya; pencarian nomor berfungsi lagi setelah `Retry-After` detik, pencarian nama tetap berfungsi.",
  },
  tooManyFailedVerifications: {
    en: "Within 24 hours, 10 verifications of this number had a wrong value, by all agencies together, or 1,000 of your agency. Check the values with the citizen; try again after `Retry-After` seconds.",
    id: "Dalam 24 jam, 10 verifikasi nomor ini berisi nilai yang salah, dari semua instansi, atau 1.000 dari instansi Anda. Periksa nilainya bersama warga; coba lagi setelah `Retry-After` detik.",
  },
  tooManyResidents: {
    en: "Within 24 hours, the agency has been shown or has looked up as many residents as its agreement allows. Wait `Retry-After` seconds, or ask the operator for a higher limit. Without `Retry-After`, the page has more residents than the agreement; send a smaller `page_size`.",
    id: "Dalam 24 jam, instansi telah melihat atau mencari penduduk sebanyak yang diizinkan perjanjiannya. Tunggu `Retry-After` detik, atau minta batas yang lebih tinggi kepada pengelola. Tanpa `Retry-After`, halaman berisi lebih banyak penduduk daripada perjanjian; kirim `page_size` yang lebih kecil.",
  },
  overQuota: {
    en: "The daily quota of the key's plan is used up. Ask the operator for a larger plan.",
    id: "Kuota harian untuk paket kunci ini sudah habis. Minta paket yang lebih besar kepada pengelola.",
  },
  addressThrottled: {
    en: "One IP address sent too many requests within a minute; only this response has no `request_id`. Wait a minute. A server that logs in many users, or an address that many offices share, needs a higher limit: ask the operator.",
    id: "Satu alamat IP mengirim terlalu banyak permintaan dalam satu menit; hanya respons ini yang tanpa `request_id`. Tunggu satu menit. Server yang melayani login banyak pengguna, atau alamat yang dipakai banyak kantor, perlu batas lebih tinggi: hubungi pengelola.",
  },
  badBoundary: {
    en: "The Content-Type is not `multipart/form-data` with a boundary. Let the HTTP client set this header.",
    id: "Content-Type bukan `multipart/form-data` dengan boundary. Biarkan klien HTTP yang mengisi header ini.",
  },
  internal: {
    en: "The service failed, for example because its database is unavailable. Try again later, and report the request ID if it happens again.",
    id: "Layanan gagal, misalnya karena basis data tidak tersedia. Coba lagi nanti, dan laporkan ID permintaan jika terulang.",
  },
  oldSystemFailed: {
    en: "A legacy system is unreachable or returned an invalid response. Try again later.",
    id: "Sistem lama tidak dapat dihubungi atau memberi respons yang tidak valid. Coba lagi nanti.",
  },
  serviceFailed: {
    en: "The function behind the gateway failed, or too many requests arrived at once. Send the request again after `Retry-After` seconds; when you resend a message, use the same `Idempotency-Key`. Report the request ID if it happens again.",
    id: "Fungsi di belakang gateway gagal, atau terlalu banyak permintaan masuk sekaligus. Kirim ulang setelah `Retry-After` detik; bila mengirim ulang pesan, pakai `Idempotency-Key` yang sama. Laporkan ID permintaan jika terulang.",
  },
  busy: {
    en: "Every database connection is in use; nothing was done. Send the request again after `Retry-After` seconds.",
    id: "Semua koneksi basis data sedang dipakai; permintaan tidak dijalankan. Kirim ulang setelah `Retry-After` detik.",
  },
  unconfirmed: {
    en: "The legacy system has not confirmed the account for a day, because it is unavailable. The refresh token remains valid: refresh again after `Retry-After` seconds.",
    id: "Sistem lama tidak tersedia dan sudah sehari tidak mengonfirmasi akun ini. Refresh token tetap berlaku: lakukan refresh lagi setelah `Retry-After` detik.",
  },
  messengerAway: {
    en: "The messaging service is unavailable. Try again after `Retry-After` seconds.",
    id: "Layanan perpesanan tidak tersedia. Coba lagi setelah `Retry-After` detik.",
  },
  notAccepted: {
    en: "The messaging service is unavailable; the message was not accepted. Send it again after `Retry-After` seconds.",
    id: "Layanan perpesanan tidak tersedia; pesan tidak diterima. Kirim lagi setelah `Retry-After` detik.",
  },
  overloaded: {
    en: "There are too many uploads at once, or too much media is waiting to be sent; the message was not accepted. Send it again after `Retry-After` seconds.",
    id: "Terlalu banyak unggahan sekaligus, atau terlalu banyak media menunggu dikirim; pesan tidak diterima. Kirim lagi setelah `Retry-After` detik.",
  },
  tooManyWaiting: {
    en: "Too many messages of this sender are waiting to be sent; this one was not accepted. Send it again after `Retry-After` seconds.",
    id: "Terlalu banyak pesan dari pengirim ini menunggu dikirim; pesan ini tidak diterima. Kirim lagi setelah `Retry-After` detik.",
  },
  dailyQuotaReached: {
    en: "The messages or bytes that the operator allows this sender in a day of the city are used up; the message was not accepted. Send it again after `Retry-After` seconds, at midnight, or ask the operator for a larger quota.",
    id: "Jumlah pesan atau byte yang diizinkan pengelola bagi pengirim ini dalam satu hari menurut waktu kota sudah habis; pesan tidak diterima. Kirim lagi setelah `Retry-After` detik, yaitu tengah malam, atau minta kuota lebih besar kepada pengelola.",
  },
  outcomeUnknown: {
    en: "The response of the messaging service was lost; it may have accepted the message. Retry with the same Idempotency-Key; without one, retrying may deliver it twice.",
    id: "Respons layanan perpesanan hilang; pesan mungkin sudah diterima. Kirim lagi dengan Idempotency-Key yang sama; tanpa itu pesan bisa terkirim dua kali.",
  },
  oldSystemSlow: {
    en: "A legacy system did not respond in time. Try again later.",
    id: "Sistem lama tidak merespons tepat waktu. Coba lagi nanti.",
  },
  tookTooLong: {
    en: "The request took too long. Try again; repeat a send with the same Idempotency-Key.",
    id: "Permintaan terlalu lama diproses. Coba lagi; ulangi pengiriman dengan Idempotency-Key yang sama.",
  },
};
