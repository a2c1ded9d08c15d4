import { AsyncLocalStorage } from "node:async_hooks";
import { DEFAULT_CONNECTION_CONFIG, type SignalKeyStore, type SocketConfig } from "baileys";

/** What is known of one message on its way through the library. */
export interface Passage {
  /** It was encrypted for at least one device: the next frame may be the message. */
  isEncrypted: boolean;
  /** A frame left after that: the platform may have the message. */
  mayHaveLeft: boolean;
}

/** The passage that the running code belongs to, if any. */
export const passages = new AsyncLocalStorage<Passage>();

/**
 * A Signal repository whose sessions are stored before anything that they encrypted can leave.
 *
 * baileys collects what changes during a send and stores it after the frame has left. A crash between the
 * two would set the ratchet back: the next message would be encrypted with a key that was used before, and
 * the recipient's phone could not read it. So a session is written at once, inside baileys' transaction.
 */
export const writeThrough =
  (store: SignalKeyStore): SocketConfig["makeSignalRepository"] =>
  (auth, logger, findLids) => {
    const { keys } = auth;
    if (!("isInTransaction" in keys)) throw new Error("the key store has no transactions");
    const written: typeof keys = {
      ...keys,
      async set(data) {
        await keys.set(data);
        if (data.session && keys.isInTransaction()) await store.set({ session: data.session });
      },
    };
    const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(
      { ...auth, keys: written },
      logger,
      findLids,
    );
    return {
      ...repository,
      async encryptMessage(message) {
        const encrypted = await repository.encryptMessage(message);
        const passage = passages.getStore();
        if (passage) passage.isEncrypted = true;
        return encrypted;
      },
    };
  };
