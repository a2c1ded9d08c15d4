import type { AreaWords, FieldWords, RouteWords } from "../words.ts";

const phonePattern = "[1-9]\\d{7,14}";
const phone: FieldWords = {
  text: {
    en: "Number with country code: 8 to 15 digits, without + or leading 0.",
    id: "Nomor dengan kode negara: 8 sampai 15 angka, tanpa + atau 0 di depan.",
  },
  example: "6281234567890",
  schema: { type: "string", pattern: `^${phonePattern}$` },
};
const suffixedPhone: FieldWords = {
  ...phone,
  text: {
    en: `${phone.text.en} The suffix \`@s.whatsapp.net\` may follow.`,
    id: `${phone.text.id} Akhiran \`@s.whatsapp.net\` boleh mengikuti.`,
  },
  schema: {
    type: "string",
    pattern: `^${phonePattern}(@[sS]\\.[wW][hH][aA][tT][sS][aA][pP][pP]\\.[nN][eE][tT])?$`,
  },
};
const idempotencyKey: FieldWords = {
  text: {
    en: "Within 24 hours the same request with the same key gets the same answer and sends nothing. Up to 255 visible ASCII characters.",
    id: "Dalam 24 jam permintaan yang sama dengan kunci yang sama mendapat jawaban yang sama dan tidak mengirim apa pun. Paling banyak 255 karakter ASCII yang terlihat.",
  },
  example: "receipt-2025-000123",
};
const caption: FieldWords = {
  text: { en: "Text below it.", id: "Teks di bawahnya." },
  example: "*Bukti* pembayaran",
};
const flag = (en: string, id: string): FieldWords => ({
  text: { en: `${en} \`1\` and \`0\` are taken too.`, id: `${id} \`1\` dan \`0\` juga diterima.` },
  example: false,
  schema: { type: "boolean", default: false },
});
const isForwarded = flag("Marks the message as forwarded.", "Menandai pesan sebagai diteruskan.");
const duration: FieldWords = {
  text: {
    en: "Seconds until the message disappears from the chat; 0, or none, keeps it.",
    id: "Detik sampai pesan hilang dari percakapan; 0, atau tanpa isian, menyimpannya.",
  },
  example: 86_400,
  schema: { type: "integer", minimum: 0, maximum: 31_536_000 },
};
const address = (en: string, id: string): FieldWords => ({
  text: {
    en: `Address of the ${en}: http or https, on a public host, port 80 or 443.`,
    id: `Alamat ${id}: http atau https, pada host publik, port 80 atau 443.`,
  },
  example: "https://files.city.example/receipt.png",
  schema: { type: "string", format: "uri", maxLength: 2_048 },
});
const upload = (mediaType: string, en: string, id: string): FieldWords => ({
  text: { en, id },
  example: "(bytes)",
  schema: { type: "string", format: "binary" },
  mediaType,
});

const queuedExample = (what: string) => ({
  status: true,
  data: { id: "3EB0C767D26A1B2E5A9F", status: "PENDING", message: `The ${what} is queued for sending` },
});
const queued = (what: string): RouteWords["reply"] => ({
  name: "QueuedMessage",
  text: {
    en: "Accepted and durable: the message outlives any crash. Whether it arrived is what `GET /messages/{id}` tells.",
    id: "Diterima dan tersimpan: pesan tidak hilang oleh gangguan. Apakah sampai, dijawab oleh `GET /messages/{id}`.",
  },
  fields: {
    status: { en: "Always `true`.", id: "Selalu `true`." },
    data: { en: "The message.", id: "Pesannya." },
    "data.id": { en: "Id of the message.", id: "Id pesan." },
    "data.status": { en: "Always `PENDING`.", id: "Selalu `PENDING`." },
    "data.message": { en: "What has been done, in words.", id: "Apa yang sudah dilakukan, dalam kata-kata." },
  },
  examples: { queued: queuedExample(what) },
});

const queuedFile =
  "The file is queued for sending to 6281234567890 (server timestamp: 2025-01-31T01:15:30.123Z)";
const states = {
  en: "`PENDING` → `SENDING` → `SENT` (the platform has it) → `DELIVERED` → `READ`; `FAILED`, `EXPIRED` (not sent within 72 hours) and `UNCERTAIN` (sent, and never an answer) come with a reason.",
  id: "`PENDING` → `SENDING` → `SENT` (sudah di platform) → `DELIVERED` → `READ`; `FAILED`, `EXPIRED` (tidak terkirim dalam 72 jam), dan `UNCERTAIN` (terkirim, tetapi tidak pernah dijawab) disertai alasan.",
};

const exactlyOne = (file: string, address: string): NonNullable<RouteWords["forms"]> => ({
  keyword: "oneOf",
  each: [
    { title: "upload", needs: file, without: address },
    { title: "byAddress", needs: address, without: file },
  ],
});

/** Words of the messaging gateway. */
export const messagingWords: AreaWords = {
  "messaging/send-message": {
    operationId: "sendMessage",
    summaryInIndonesian: "Mengirim pesan teks",
    text: {
      en: "The text arrives byte for byte; `*bold*`, `_italic_`, `~struck~` and `` `monospace` `` are the platform's own. At most 65,536 characters. It is accepted at once and sent slowly.",
      id: "Teks tiba persis seperti dikirim; `*tebal*`, `_miring_`, `~coret~`, dan `` `monospace` `` adalah milik platform. Paling banyak 65.536 karakter. Pesan langsung diterima dan dikirim perlahan.",
    },
    fields: {
      "idempotency-key": idempotencyKey,
      phone,
      message: { text: { en: "The text.", id: "Teksnya." }, example: "Kode Anda: *123456*" },
    },
    examples: { text: { phone: "6281234567890", message: "Kode Anda: *123456*" } },
    mistake: { where: "body", input: { phone: "+62 812-3456-7890", message: "" } },
    curl: `curl -s "{base}/send/message" -u "$AUTH" -H 'Content-Type: application/json' \\
  -d '{"phone": "'$PHONE'", "message": "*Halo* dari kota"}'`,
    reply: queued("message"),
  },
  "messaging/send-image": {
    operationId: "sendImage",
    summaryInIndonesian: "Mengirim gambar, diunggah atau dari alamat",
    text: {
      en: "Exactly one of `image` and `image_url`. An upload has at most 4 MiB, what an address leads to 16 MiB. JPG or PNG by content, whatever the name says. A blank field counts as absent.",
      id: "Tepat satu dari `image` dan `image_url`. Unggahan paling besar 4 MiB, dari alamat 16 MiB. JPG atau PNG menurut isinya, apa pun namanya. Isian kosong dianggap tidak ada.",
    },
    fields: {
      "idempotency-key": idempotencyKey,
      phone: suffixedPhone,
      image: upload("image/jpeg, image/png", "The image, a JPG or PNG.", "Gambarnya, JPG atau PNG."),
      image_url: address("image", "gambar"),
      caption,
      view_once: flag("The recipient can open it once.", "Penerima hanya dapat membukanya sekali."),
      compress: flag("Sends a JPG of at most 1600 pixels.", "Mengirim JPG paling besar 1600 piksel."),
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
    summaryInIndonesian: "Mengirim berkas, diunggah atau dari alamat",
    text: {
      en: "Exactly one of `file` and `file_url`. An upload has at most 4 MiB, what an address leads to 50 MiB. A blank field counts as absent.",
      id: "Tepat satu dari `file` dan `file_url`. Unggahan paling besar 4 MiB, dari alamat 50 MiB. Isian kosong dianggap tidak ada.",
    },
    fields: {
      "idempotency-key": idempotencyKey,
      phone: suffixedPhone,
      file: upload("application/octet-stream", "The file, of any kind.", "Berkasnya, jenis apa pun."),
      file_url: address("file", "berkas"),
      caption,
      reply_message_id: {
        text: {
          en: "Id of the message that this one answers: of an earlier send, or of one that the phone wrote.",
          id: "Id pesan yang dijawab: dari pengiriman terdahulu, atau pesan yang ditulis telepon itu.",
        },
        example: "3EB0C767D26A1B2E5A9F",
      },
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
    curl: `curl -s "{base}/send/file" -u "$AUTH" -H "Idempotency-Key: letter-$(date +%s%N)" \\
  -F phone=$PHONE -F file=@letter.txt -F duration=86400`,
    reply: {
      name: "QueuedFile",
      text: queued("file").text,
      fields: {
        code: { en: "Always `SUCCESS`.", id: "Selalu `SUCCESS`." },
        message: {
          en: "What has been done, with the number and the server's time.",
          id: "Apa yang sudah dilakukan, dengan nomor dan waktu server.",
        },
        results: { en: "The message.", id: "Pesannya." },
        "results.message_id": { en: "Id of the message.", id: "Id pesan." },
        "results.status": { en: "The same text as `message`.", id: "Teks yang sama dengan `message`." },
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
    summaryInIndonesian: "Memberi tahu nasib sebuah pesan",
    text: states,
    fields: {
      id: {
        text: {
          en: "As it was answered when the message was sent.",
          id: "Seperti dijawab saat pesan dikirim.",
        },
        example: "3EB0C767D26A1B2E5A9F",
      },
    },
    mistake: { where: "params", input: { id: "a b" } },
    curl: `curl -s "{base}/messages/$MESSAGE_ID" -u "$AUTH"`,
    reply: {
      name: "MessageStatus",
      text: { en: "The message's state.", id: "Keadaan pesan." },
      fields: {
        status: { en: "Always `true`.", id: "Selalu `true`." },
        data: { en: "The message.", id: "Pesannya." },
        "data.id": { en: "Id of the message.", id: "Id pesan." },
        "data.status": states,
        "data.reason": {
          en: "Why it FAILED, EXPIRED or is UNCERTAIN.",
          id: "Mengapa FAILED, EXPIRED, atau UNCERTAIN.",
        },
        "data.accepted_at": { en: "ISO 8601 with zone.", id: "ISO 8601 dengan zona." },
        "data.changed_at": { en: "ISO 8601 with zone.", id: "ISO 8601 dengan zona." },
      },
      examples: {
        delivered: {
          status: true,
          data: {
            id: "3EB0C767D26A1B2E5A9F",
            status: "DELIVERED",
            accepted_at: "2025-01-31T01:15:30.123Z",
            changed_at: "2025-01-31T01:15:41.456Z",
          },
        },
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
};
