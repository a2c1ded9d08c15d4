import { createHmac, hkdfSync } from "node:crypto";
import { aesDecryptWithIV, getContentType, normalizeMessageContent, type proto, sha256 } from "baileys";

/** The HKDF info of media keys, by message type. */
const purposes: Readonly<Record<string, string>> = {
  imageMessage: "WhatsApp Image Keys",
  stickerMessage: "WhatsApp Image Keys",
  videoMessage: "WhatsApp Video Keys",
  audioMessage: "WhatsApp Audio Keys",
  documentMessage: "WhatsApp Document Keys",
};
const macBytes = 10;

/** A message's reference to its media. */
export interface MediaReference {
  readonly purpose: string;
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly sha256: Uint8Array;
  readonly encryptedSha256: Uint8Array;
  readonly lengthBytes: number;
  readonly mimetype: string;
  readonly fileName: string | undefined;
}

/** Finds the media of a message, also inside view-once and caption wrappers. */
export const findMedia = (message: proto.IMessage): MediaReference | undefined => {
  const content = normalizeMessageContent(message);
  const type = getContentType(content);
  const purpose = type && purposes[type];
  if (!type || !purpose) return undefined;
  const media = content?.[type] as proto.Message.IDocumentMessage;
  return {
    purpose,
    directPath: media.directPath ?? "",
    mediaKey: media.mediaKey ?? Buffer.alloc(0),
    sha256: media.fileSha256 ?? Buffer.alloc(0),
    encryptedSha256: media.fileEncSha256 ?? Buffer.alloc(0),
    lengthBytes: Number(media.fileLength ?? 0),
    mimetype: media.mimetype ?? "",
    fileName: media.fileName ?? undefined,
  };
};

/** Decrypts an uploaded file as a phone does. @throws Error if one of four checks fails. */
export const decryptMedia = (media: MediaReference, file: Buffer): Buffer => {
  if (!sha256(file).equals(media.encryptedSha256)) throw new Error("the encrypted file's SHA-256 differs");
  const keys = Buffer.from(hkdfSync("sha256", media.mediaKey, Buffer.alloc(0), media.purpose, 112));
  const [vector, cipherKey, macKey] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)];
  const [encrypted, mac] = [file.subarray(0, -macBytes), file.subarray(-macBytes)];
  const expected = createHmac("sha256", macKey).update(vector).update(encrypted).digest();
  if (!expected.subarray(0, macBytes).equals(mac)) throw new Error("the encrypted file's MAC differs");
  const plain = aesDecryptWithIV(encrypted, cipherKey, vector);
  if (!sha256(plain).equals(media.sha256)) throw new Error("the file's SHA-256 differs");
  if (plain.length !== media.lengthBytes) throw new Error("the file's length differs");
  return plain;
};
