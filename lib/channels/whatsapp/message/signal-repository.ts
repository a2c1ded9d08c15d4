import { AsyncLocalStorage } from "node:async_hooks";
import { DEFAULT_CONNECTION_CONFIG, type SignalKeyStore, type SocketConfig } from "baileys";
import { steadyNow } from "#lib/deadline.ts";
import { BoundedMap } from "./devices.ts";

/** How far the library has got with sending one message. */
export interface SendProgress {
  /** It was encrypted for at least one device: the next frame may be the message. */
  isEncrypted: boolean;
  /** A frame left after that: the platform may have the message. */
  mayHaveLeft: boolean;
}

/** The send that the running code belongs to, if any. */
export const sendProgress = new AsyncLocalStorage<SendProgress>();

type FindLids = Parameters<SocketConfig["makeSignalRepository"]>[2];

/** As long as devices are cached. */
const maxAgeMs = 5 * 60_000;

/**
 * Remembers which numbers have no LID: baileys would ask for it at every step of a send, within the account's transaction.
 * A message that arrives while the platform does not say is read by its number, as it would be rejected otherwise.
 */
const rememberMissing = (findLids: FindLids): FindLids => {
  const missingUntil = new BoundedMap<number>();
  return (
    findLids &&
    (async (jids) => {
      const asked = jids.filter((jid) => steadyNow() >= (missingUntil.get(jid) ?? 0));
      if (asked.length === 0) return [];
      const found = await findLids(asked).catch((error: unknown) => {
        if (sendProgress.getStore()) throw error;
        return undefined;
      });
      for (const jid of found ? asked : [])
        if (!found?.some(({ pn }) => pn === jid)) missingUntil.set(jid, steadyNow() + maxAgeMs);
      return found;
    })
  );
};

/** Who reads messages before they count as received. */
export interface Reader {
  /** Whether a ciphertext is to be read. */
  reads(ciphertext: Uint8Array): boolean;
  read(ciphertext: Uint8Array, plaintext: Uint8Array): Promise<void>;
  /** Called when the database has failed, so that a message could not be read: the platform must deliver it again. */
  abandon(): void;
}

/**
 * A Signal repository that stores each Signal session before anything encrypted with it can leave.
 *
 * baileys collects the changes of a transaction and stores them at its end: of a send, after the frame has left. A crash in
 * between, or another transaction that ends later with an earlier session, would reset the ratchet: the next message would be
 * encrypted with a used key, and the recipient's phone could not decrypt it. So sessions are read and written at once,
 * outside of baileys' transactions; libsignal changes one session at a time.
 *
 * A message can be decrypted once: libsignal stores the session without its key before it returns the text
 * (session_cipher.js: `storeRecord`). So a message that is read is decrypted twice, first without storing anything: after a
 * crash until `read` has resolved, it can be decrypted again when the platform delivers it again.
 */
export const writeThrough =
  (store: SignalKeyStore, reader?: Reader): SocketConfig["makeSignalRepository"] =>
  (auth, logger, findLids) => {
    const { keys } = auth;
    if (!("isInTransaction" in keys)) throw new Error("the key store has no transactions");
    let failures = 0;
    const written: typeof keys = {
      ...keys,
      async get(type, ids) {
        try {
          return await (type === "session" ? store.get(type, ids) : keys.get(type, ids));
        } catch (error) {
          failures += 1; // baileys takes a session that cannot be read for none
          throw error;
        }
      },
      async set({ session, ...others }) {
        if (session) await store.set({ session });
        if (Object.keys(others).length > 0) await keys.set(others);
      },
    };
    const find = rememberMissing(findLids);
    const open = (keys: typeof written) => {
      const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ ...auth, keys }, logger, find);
      // baileys' own has no limit, and each entry has a timer of three days that holds all keys of its send: 60 KiB
      Object.assign(repository.lidMapping, { mappingCache: new BoundedMap<string>() });
      return repository;
    };
    const repository = open(written);
    const unstored = open({ ...written, set: async () => {}, transaction: (work) => work() });
    return {
      ...repository,
      async decryptMessage(message) {
        const { ciphertext } = message;
        const before = failures;
        try {
          if (reader?.reads(ciphertext))
            await reader.read(ciphertext, await unstored.decryptMessage(message));
        } catch (error) {
          if (failures > before) reader?.abandon();
          throw error;
        }
        return repository.decryptMessage(message);
      },
      async encryptMessage(message) {
        const encrypted = await repository.encryptMessage(message);
        const progress = sendProgress.getStore();
        if (progress) progress.isEncrypted = true;
        return encrypted;
      },
    };
  };
