import {
  maxExpirySeconds,
  maxPageSize,
  messageClasses,
  states as stateNames,
} from "#lib/messaging/submission.ts";
import type * as rows from "#lib/routes/messaging.ts";
import type { AreaWords, FieldWords, RouteWords, Text } from "../words.ts";

const phonePattern = "[1-9]\\d{7,14}";
const phone: FieldWords = {
  en: "Phone number with country code: 8 to 15 digits, without + or leading 0. The suffix `@s.whatsapp.net` is accepted; groups and LIDs are not supported. A number that no country has, or that could also be one at home without its country code, returns 400.",
  id: "Nomor telepon dengan kode negara: 8 sampai 15 digit, tanpa + atau 0 di depan. Akhiran `@s.whatsapp.net` diterima; grup dan LID tidak didukung. Nomor yang tidak ada di negara mana pun, atau yang tanpa kode negara juga dapat menjadi nomor dalam negeri, mendapat 400.",
  example: "6281234567890",
  schema: {
    type: "string",
    pattern: `^${phonePattern}(@[sS]\\.[wW][hH][aA][tT][sS][aA][pP][pP]\\.[nN][eE][tT])?$`,
  },
};
const idempotencyKey: FieldWords = {
  en: "Within 24 hours, the same request with the same key returns the same response and sends nothing. Up to 255 visible ASCII characters.",
  id: "Dalam 24 jam, permintaan yang sama dengan kunci yang sama menghasilkan respons yang sama dan tidak mengirim apa pun. Paling banyak 255 karakter ASCII yang terlihat.",
  example: "receipt-2025-000123",
};
/** Of every send. */
const sendHeaders: Readonly<Record<string, FieldWords>> = {
  "idempotency-key": idempotencyKey,
  "x-class": {
    en: "What the message is; more urgent ones are sent first, in this order: `one-time-code`, `transactional`, `reminder`, `bulk`. By default `transactional`.",
    id: "Kelas pesan; yang lebih mendesak dikirim lebih dulu, dengan urutan: `one-time-code`, `transactional`, `reminder`, `bulk`. Bawaannya `transactional`.",
    example: "reminder",
    schema: { type: "string", enum: [...messageClasses], default: "transactional" },
  },
  "x-expires-in": {
    en: "Seconds after which an unsent message expires, counted from its acceptance or from `X-Send-At`. By default 259,200 (72 hours), of a `one-time-code` 300.",
    id: "Detik sampai pesan yang belum terkirim kedaluwarsa, dihitung sejak diterima atau sejak `X-Send-At`. Bawaannya 259.200 (72 jam), untuk `one-time-code` 300.",
    example: 3_600,
    schema: { type: "integer", minimum: 1, maximum: maxExpirySeconds },
  },
  "x-send-at": {
    en: "When to send it, at most 30 days ahead: RFC 3339 with `Z` or an offset, exact to the millisecond; further digits are ignored. A time in the past means now. Impossible times return 400, including the second 60.",
    id: "Waktu pengiriman, paling lama 30 hari ke depan: RFC 3339 dengan `Z` atau offset, teliti sampai milidetik; digit selebihnya diabaikan. Waktu yang sudah lewat berarti sekarang. Waktu yang mustahil menghasilkan 400, termasuk detik 60.",
    example: "2026-05-01T08:00:00+07:00",
    schema: { type: "string", format: "date-time" },
  },
};
const caption: FieldWords = {
  en: "Text shown below the image or file. A form made by a browser or by `fetch` sends its line ends as CRLF.",
  id: "Teks di bawah gambar atau berkas. Formulir dari browser atau `fetch` mengirim akhir barisnya sebagai CRLF.",
  example: "*Bukti* pembayaran",
};
const flag = (en: string, id: string): FieldWords => ({
  en: `${en} \`1\`, \`0\`, \`on\` and \`off\` are also accepted.`,
  id: `${id} \`1\`, \`0\`, \`on\`, dan \`off\` juga diterima.`,
  example: false,
  schema: { type: "boolean", default: false },
});
const forwarding = {
  en: "Marks the message as forwarded.",
  id: "Menandai pesan sebagai diteruskan.",
} as const;
const isForwarded = flag(forwarding.en, forwarding.id);
const duration: FieldWords = {
  en: "Seconds until the message disappears from the chat; by default, or with 0, it stays. Rounded up to a value that WhatsApp supports: 86,400, 604,800 or 7,776,000 (90 days, also for more).",
  id: "Detik sampai pesan hilang dari percakapan; secara bawaan, atau dengan 0, pesan tetap ada. Dibulatkan ke atas ke nilai yang didukung WhatsApp: 86.400, 604.800, atau 7.776.000 (90 hari, juga untuk yang lebih lama).",
  example: 86_400,
  schema: { type: "integer", minimum: 0, maximum: 31_536_000 },
};
const replyMessageId: FieldWords = {
  en: "ID of the message to reply to: one sent earlier, or one written by the recipient.",
  id: "ID pesan yang dibalas: pesan yang dikirim sebelumnya, atau yang ditulis penerima.",
  example: "3EB0C767D26A1B2E5A9F",
};
/** A field of a JSON body, where null counts as absent. */
const nullable = ({ schema, ...words }: FieldWords): FieldWords => ({
  ...words,
  schema: { ...schema, type: [schema?.type ?? "string", "null"] },
});
const address = (en: string, id: string): FieldWords => ({
  en: `URL of the ${en}: http or https, on a public host, port 80 or 443. It is downloaded within 20 seconds.`,
  id: `URL ${id}: http atau https, pada host publik, port 80 atau 443. Pengunduhannya paling lama 20 detik.`,
  example: "https://files.city.example/receipt.png",
  schema: { type: "string", format: "uri", maxLength: 2_048 },
});
const upload = (mediaType: string, en: string, id: string): FieldWords => ({
  en,
  id,
  example: "(bytes)",
  schema: { type: "string", format: "binary" },
  mediaType,
});

const always = { en: "Always `true`.", id: "Selalu `true`." };
const messageFields = {
  status: always,
  data: { en: "The message.", id: "Pesan." },
  "data.id": { en: "ID of the message.", id: "ID pesan." },
};
const queued = (what: string): RouteWords["reply"] => ({
  name: "QueuedMessage",
  parts: { data: "AcceptedMessage" },
  en: "Accepted and stored: the message survives a crash. `GET /messages/{id}` shows whether it arrived.",
  id: "Diterima dan tersimpan: pesan tidak hilang bila terjadi crash. `GET /messages/{id}` menunjukkan apakah pesan sampai.",
  fields: {
    ...messageFields,
    "data.status": { en: "Always `PENDING`.", id: "Selalu `PENDING`." },
    "data.message": { en: "Human-readable result.", id: "Keterangan hasil." },
  },
  examples: {
    queued: {
      status: true,
      data: { id: "3EB0C767D26A1B2E5A9F", status: "PENDING", message: `The ${what} is queued for sending` },
    },
  },
});

const queuedFile =
  "The file is queued for sending to 6281234567890 (server timestamp: 2025-01-31T01:15:30.123Z)";
const states = {
  en: "`PENDING` → `SENDING` → `SENT` (accepted by WhatsApp) → `DELIVERED` → `READ`. With a reason: `FAILED` (no account, or rejected), `EXPIRED` (not sent in time) and `UNCERTAIN` (sent up to five times without an answer; it may have arrived, and WhatsApp drops copies with the same ID). `CANCELLED`: you cancelled it before it was sent.",
  id: "`PENDING` → `SENDING` → `SENT` (diterima WhatsApp) → `DELIVERED` → `READ`. Disertai alasan: `FAILED` (tanpa akun, atau ditolak), `EXPIRED` (tidak terkirim tepat waktu), dan `UNCERTAIN` (dikirim sampai lima kali tanpa jawaban; mungkin sampai, dan WhatsApp membuang salinan dengan ID yang sama). `CANCELLED`: Anda membatalkannya sebelum dikirim.",
};
const messageId = {
  en: "The ID returned when the message was sent.",
  id: "ID dari respons saat pesan dikirim.",
  example: "3EB0C767D26A1B2E5A9F",
};
/** The fields of a message's state. @param at its place in the response. */
const stateFields = (at: string): Readonly<Record<string, Text>> => ({
  [`${at}.id`]: { en: "ID of the message.", id: "ID pesan." },
  [`${at}.status`]: states,
  [`${at}.reason`]: {
    en: "Reason for FAILED, EXPIRED or UNCERTAIN. With SENT: the phone could not decrypt the message and shows “Waiting for this message”.",
    id: "Alasan FAILED, EXPIRED, atau UNCERTAIN. Pada SENT: telepon tidak dapat mendekripsi pesan dan menampilkan “Menunggu pesan ini”.",
  },
  [`${at}.waiting_for`]: {
    en: "What a PENDING message waits for, the first of: `scheduled` (its `X-Send-At`), `paused` (an operator has paused sending), `account_not_connected` (no account that may send it is connected), `platform_outage`, `new_contact_limit`, `retry` (the next attempt), `pace` (its turn: the sending rate, other messages). The task that leads the account knows its outages and limits of new contacts; another one answers `retry` or `pace`.",
    id: "Yang ditunggu pesan PENDING, yang pertama dari: `scheduled` (`X-Send-At`-nya), `paused` (pengelola menjeda pengiriman), `account_not_connected` (tidak ada akun yang boleh mengirimnya yang terhubung), `platform_outage` (gangguan platform), `new_contact_limit` (batas kontak baru), `retry` (percobaan berikutnya), `pace` (gilirannya: laju pengiriman, pesan lain). Gangguan dan batas kontak baru hanya diketahui task yang memimpin akunnya; task lain menjawab `retry` atau `pace`.",
  },
  [`${at}.not_before`]: {
    en: "With `scheduled`, its time; with `retry`, that of the next attempt at the earliest. ISO 8601 with time zone. Otherwise absent: no time is estimated.",
    id: "Pada `scheduled`, waktunya; pada `retry`, waktu percobaan berikutnya paling cepat. ISO 8601 dengan zona waktu. Selain itu tidak ada: waktunya tidak diperkirakan.",
  },
  [`${at}.duration`]: {
    en: "Seconds until it disappears from the chat, rounded up from the requested `duration`; absent if none was requested.",
    id: "Detik sampai pesan hilang dari percakapan, dibulatkan ke atas dari `duration` yang diminta; tidak ada bila tidak diminta.",
  },
  [`${at}.account`]: {
    en: "Name of the city's account that has sent the message or is to send it; absent while any account of its pool may.",
    id: "Nama akun kota yang telah atau akan mengirim pesan; tidak ada selama akun mana pun dari kumpulannya boleh mengirimnya.",
  },
  [`${at}.channel`]: {
    en: "Its channel: `whatsapp`, `cloud-api` (WhatsApp's official API) or `sms`. A message that one channel does not deliver may go on to the next.",
    id: "Kanalnya: `whatsapp`, `cloud-api` (API resmi WhatsApp), atau `sms`. Pesan yang tidak disampaikan oleh satu kanal dapat diteruskan ke kanal berikutnya.",
  },
  [`${at}.left_out`]: {
    en: "What the message asks for that the channel cannot do: `media` (only the caption is sent), `view_once`, `is_forwarded`, `duration_seconds`, `reply_to`; absent if nothing.",
    id: "Permintaan pesan yang tidak dapat dipenuhi oleh kanal: `media` (hanya keterangan yang dikirim), `view_once`, `is_forwarded`, `duration_seconds`, `reply_to`; tidak ada bila semuanya terpenuhi.",
  },
  [`${at}.accepted_at`]: { en: "ISO 8601 with time zone.", id: "ISO 8601 dengan zona waktu." },
  [`${at}.changed_at`]: { en: "ISO 8601 with time zone.", id: "ISO 8601 dengan zona waktu." },
});
const delivered = {
  id: "3EB0C767D26A1B2E5A9F",
  status: "DELIVERED",
  duration: 86_400,
  account: "main",
  channel: "whatsapp",
  accepted_at: "2025-01-31T01:15:30.123Z",
  changed_at: "2025-01-31T01:15:41.456Z",
};
const waiting = {
  id: "3EB0C767D26A1B2E5AA2",
  status: "PENDING",
  waiting_for: "scheduled",
  not_before: "2025-02-01T01:00:00.000Z",
  accepted_at: "2025-01-31T01:16:30.123Z",
  changed_at: "2025-01-31T01:16:30.123Z",
};
const cancelled = {
  id: "3EB0C767D26A1B2E5AA1",
  status: "CANCELLED",
  accepted_at: "2025-01-31T01:15:30.123Z",
  changed_at: "2025-01-31T01:16:02.789Z",
};

const exactlyOne = (file: string, address: string): NonNullable<RouteWords["forms"]> => ({
  keyword: "oneOf",
  each: [
    { title: "upload", needs: file, without: address },
    { title: "byAddress", needs: address, without: file },
  ],
});

/** Words of the messaging gateway. */
export const messagingWords: AreaWords<typeof rows> = {
  "messaging/send-message": {
    operationId: "sendMessage",
    summaryInIndonesian: "Mengirim pesan teks",
    en: "The text is delivered byte for byte. WhatsApp formats `*bold*`, `_italic_`, `~strikethrough~` and `` `monospace` ``. At most 65,536 characters. Messages are accepted at once and sent slowly.",
    id: "Teks sampai persis seperti yang dikirim. WhatsApp memformat `*tebal*`, `_miring_`, `~coret~`, dan `` `monospace` ``. Paling banyak 65.536 karakter. Pesan langsung diterima dan dikirim perlahan.",
    fields: {
      ...sendHeaders,
      phone,
      message: { en: "The text.", id: "Teksnya.", example: "Kode Anda: *123456*" },
      reply_message_id: nullable({ ...replyMessageId, schema: { maxLength: 128 } }),
      is_forwarded: nullable({ ...forwarding, example: false, schema: { type: "boolean", default: false } }),
      duration: nullable(duration),
    },
    examples: {
      text: { phone: "6281234567890", message: "Kode Anda: *123456*" },
      disappearing: { phone: "6281234567890", message: "Kode Anda: *123456*", duration: 86_400 },
    },
    mistake: { where: "body", input: { phone: "+62 812-3456-7890", message: "" } },
    curl: `curl -s "{base}/send/message" -u "$AUTH" -H 'Content-Type: application/json' \\
  -d '{"phone": "'$PHONE'", "message": "*Halo* dari kota"}'`,
    reply: queued("message"),
  },
  "messaging/send-image": {
    operationId: "sendImage",
    summaryInIndonesian: "Mengirim gambar, diunggah atau dari URL",
    en: "Send exactly one of `image` (at most 4 MiB) and `image_url` (at most 16 MiB). The content must be JPG or PNG; the file name does not matter. A WebP image at a URL is converted to JPG, as `compress` does; an uploaded one is 400. A URL that answers a web page or JSON instead is 400. Fields that are blank, `null` or `undefined` are ignored.",
    id: "Kirim tepat satu dari `image` (paling besar 4 MiB) dan `image_url` (paling besar 16 MiB). Isinya harus JPG atau PNG; nama berkas tidak berpengaruh. Gambar WebP pada URL diubah menjadi JPG, seperti dengan `compress`; yang diunggah menghasilkan 400. URL yang menjawab dengan halaman web atau JSON menghasilkan 400. Field yang kosong atau berisi `null` atau `undefined` diabaikan.",
    fields: {
      ...sendHeaders,
      phone,
      image: upload("image/jpeg, image/png", "The image, JPG or PNG.", "Gambar, JPG atau PNG."),
      image_url: address("image", "gambar"),
      caption,
      view_once: flag("The recipient can open it only once.", "Penerima hanya dapat membukanya sekali."),
      compress: flag(
        "Converts it to a JPG of at most 1600 pixels per side.",
        "Mengubahnya menjadi JPG dengan sisi paling panjang 1600 piksel.",
      ),
      duration,
      is_forwarded: isForwarded,
    },
    forms: exactlyOne("image", "image_url"),
    examples: {
      byAddress: {
        phone: "6281234567890",
        image_url: "https://files.city.example/receipt.png",
        caption: "*Bukti* pembayaran",
      },
    },
    mistake: { where: "body", input: { image_url: "https://files.city.example/receipt.png" } },
    curl: `curl -s "{base}/send/image" -u "$AUTH" -F phone=$PHONE -F image=@receipt.png -F 'caption=*Bukti*'`,
    reply: queued("image"),
  },
  "messaging/send-file": {
    operationId: "sendFile",
    summaryInIndonesian: "Mengirim berkas, diunggah atau dari URL",
    en: "Send exactly one of `file` (at most 4 MiB) and `file_url` (at most 50 MiB). A URL that answers a web page or JSON is 400, unless its path or Content-Disposition names such a file. A name without an ending, or with that of a script, gets the ending of its type. An empty file is 400. Fields that are blank, `null` or `undefined` are ignored.",
    id: "Kirim tepat satu dari `file` (paling besar 4 MiB) dan `file_url` (paling besar 50 MiB). URL yang menjawab dengan halaman web atau JSON menghasilkan 400, kecuali path atau Content-Disposition-nya menyebut berkas seperti itu. Nama tanpa ekstensi, atau dengan ekstensi skrip, mendapat ekstensi sesuai jenisnya. Berkas kosong menghasilkan 400. Field yang kosong atau berisi `null` atau `undefined` diabaikan.",
    fields: {
      ...sendHeaders,
      phone,
      file: upload(
        "application/octet-stream",
        "The file, of any type. If its part has no Content-Type, the type follows from the content or the name.",
        "Berkas, jenis apa pun. Bila bagiannya tidak memiliki Content-Type, jenisnya ditentukan dari isi atau namanya.",
      ),
      file_url: address("file", "berkas"),
      caption,
      reply_message_id: replyMessageId,
      is_forwarded: isForwarded,
      duration,
    },
    forms: exactlyOne("file", "file_url"),
    examples: {
      byAddress: {
        phone: "6281234567890",
        file_url: "https://files.city.example/letter.pdf",
        duration: 86_400,
      },
    },
    mistake: { where: "body", input: { phone: "6281234567890" } },
    curl: `curl -s "{base}/send/file" -u "$AUTH" \\
  -F phone=$PHONE -F file=@letter.txt -F duration=86400`,
    reply: {
      ...queued("file"),
      name: "QueuedFile",
      parts: { results: "AcceptedFile" },
      fields: {
        code: { en: "Always `SUCCESS`.", id: "Selalu `SUCCESS`." },
        message: {
          en: "Human-readable result, with the number and the server's time.",
          id: "Keterangan hasil, dengan nomor dan waktu server.",
        },
        results: { en: "The message.", id: "Pesan." },
        "results.message_id": { en: "ID of the message.", id: "ID pesan." },
        "results.status": { en: "Same text as `message`.", id: "Teks yang sama dengan `message`." },
      },
      examples: {
        queued: {
          code: "SUCCESS",
          message: queuedFile,
          results: { message_id: "3EB0C767D26A1B2E5A9F", status: queuedFile },
        },
      },
    },
  },
  "messaging/message-status": {
    operationId: "readMessage",
    summaryInIndonesian: "Menampilkan status sebuah pesan",
    ...states,
    fields: {
      id: messageId,
    },
    mistake: { where: "params", input: { id: "a b" } },
    curl: `curl -s "{base}/messages/$MESSAGE_ID" -u "$AUTH"`,
    reply: {
      name: "MessageStatus",
      parts: { data: "Message" },
      en: "The state of the message.",
      id: "Status pesan.",
      fields: {
        ...messageFields,
        ...stateFields("data"),
      },
      examples: {
        delivered: { status: true, data: delivered },
        waiting: { status: true, data: waiting },
        failed: {
          status: true,
          data: {
            id: "3EB0C767D26A1B2E5AA0",
            status: "FAILED",
            reason: "This number has no account",
            accepted_at: "2025-01-31T01:15:30.123Z",
            changed_at: "2025-01-31T01:15:33.456Z",
          },
        },
      },
    },
  },
  "messaging/list-messages": {
    operationId: "listMessages",
    summaryInIndonesian: "Menampilkan daftar pesan Anda",
    en: "Your messages of the last 30 days in the order of acceptance, oldest first. While `next` is not null, send it in `after` for the next page: pages neither skip nor repeat a message, even while others are accepted. With `state`, a page may be short or empty although `next` is not null: each looks through 20,000 messages at most. A message that is being accepted appears a moment later.",
    id: "Pesan Anda dari 30 hari terakhir menurut urutan penerimaan, mulai dari yang paling lama. Selama `next` tidak null, kirim nilainya di `after` untuk halaman berikutnya: tidak ada pesan yang terlewat atau berulang, meskipun pesan lain sedang diterima. Dengan `state`, halaman dapat pendek atau kosong walaupun `next` tidak null: setiap halaman memeriksa paling banyak 20.000 pesan. Pesan yang sedang diterima muncul sesaat kemudian.",
    fields: {
      state: {
        en: "Only messages in this state.",
        id: "Hanya pesan dengan status ini.",
        example: "FAILED",
        schema: { type: "string", enum: [...stateNames] },
      },
      since: {
        en: "Only messages accepted at this time or later: RFC 3339 with `Z` or an offset.",
        id: "Hanya pesan yang diterima pada waktu ini atau sesudahnya: RFC 3339 dengan `Z` atau offset.",
        example: "2025-01-31T00:00:00Z",
        schema: { type: "string", format: "date-time" },
      },
      after: {
        en: "`next` of the previous page, unchanged.",
        id: "`next` dari halaman sebelumnya, tanpa perubahan.",
        example: "AW9xS0pYd2ZyZ0N3",
      },
      limit: {
        en: "Messages per page, 50 by default.",
        id: "Jumlah pesan per halaman, bawaannya 50.",
        example: 100,
        schema: { type: "integer", minimum: 1, maximum: maxPageSize, default: 50 },
      },
    },
    mistake: { where: "query", input: { limit: "101" } },
    curl: `curl -s "{base}/messages?state=FAILED&limit=100" -u "$AUTH"`,
    reply: {
      name: "MessagePage",
      parts: { "data.[]": "Message" },
      en: "One page of messages.",
      id: "Satu halaman pesan.",
      fields: {
        status: always,
        data: { en: "The messages.", id: "Pesan-pesan." },
        ...stateFields("data"),
        next: {
          en: "Send it in `after` for the next page; null on the last one.",
          id: "Kirim di `after` untuk halaman berikutnya; null di halaman terakhir.",
        },
      },
      examples: {
        page: { status: true, data: [delivered, cancelled, waiting], next: "AW9xS0pYd2ZyZ0N3" },
        last: { status: true, data: [], next: null },
      },
    },
  },
  "messaging/cancel-message": {
    operationId: "cancelMessage",
    summaryInIndonesian: "Membatalkan pesan yang menunggu",
    en: "A cancelled message is never sent, also not by a repeated send with the same Idempotency-Key. Cancelling it again returns the same. A message that is being sent, may have been sent or has ended gets 409.",
    id: "Pesan yang dibatalkan tidak akan dikirim, juga tidak oleh pengiriman ulang dengan Idempotency-Key yang sama. Membatalkannya lagi menghasilkan respons yang sama. Pesan yang sedang dikirim, mungkin sudah terkirim, atau sudah selesai menghasilkan 409.",
    fields: { id: messageId },
    mistake: { where: "params", input: { id: "a b" } },
    curl: `curl -s -X DELETE "{base}/messages/$LATER_ID" -u "$AUTH"`,
    reply: {
      name: "MessageStatus",
      parts: { data: "Message" },
      en: "The message is cancelled.",
      id: "Pesan dibatalkan.",
      fields: { ...messageFields, ...stateFields("data") },
      examples: { cancelled: { status: true, data: cancelled } },
    },
  },
};
