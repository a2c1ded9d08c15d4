import {
  addTransactionCapability,
  generateSignalPubKey,
  initAuthCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from "baileys";
import { expect, test } from "vitest";
import { writeThrough } from "#lib/channels/whatsapp/message/signal-repository.ts";

const logger = {
  level: "silent",
  child: () => logger,
  ...{ trace() {}, debug() {}, info() {}, warn() {}, error() {} },
};
const noLids = async () => [];

/** A store in memory that counts the writes of sessions. */
const openStore = () => {
  const stored = new Map<string, unknown>();
  let sessionWrites = 0;
  const store: SignalKeyStore = {
    get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
      Object.fromEntries(
        ids.flatMap((id) => (stored.has(`${type} ${id}`) ? [[id, stored.get(`${type} ${id}`)]] : [])),
      ) as Record<string, SignalDataTypeMap[T]>,
    set: async (changes: SignalDataSet) => {
      if (changes.session) sessionWrites += 1;
      for (const [type, values] of Object.entries(changes))
        for (const [id, value] of Object.entries(values)) stored.set(`${type} ${id}`, structuredClone(value));
    },
  };
  return { store, sessionWrites: () => sessionWrites };
};

const openDevice = () => {
  const { store, sessionWrites } = openStore();
  const creds = initAuthCreds();
  const keys = addTransactionCapability(store, logger, { maxCommitRetries: 1, delayBetweenTriesMs: 1 });
  const repository = writeThrough(store)({ creds, keys }, logger, noLids);
  return { creds, keys, repository, sessionWrites };
};

test("each change of a Signal session is written once, so that the end of no transaction takes back a later one", async () => {
  const [messenger, phone] = [openDevice(), openDevice()];
  const { registrationId, signedIdentityKey, signedPreKey } = phone.creds;
  const session = {
    registrationId,
    identityKey: generateSignalPubKey(signedIdentityKey.public),
    signedPreKey: {
      keyId: signedPreKey.keyId,
      publicKey: generateSignalPubKey(signedPreKey.keyPair.public),
      signature: Buffer.from(signedPreKey.signature),
    },
  } as Parameters<typeof phone.repository.injectE2ESession>[0]["session"];
  const jid = "123@lid";
  const encrypt = () =>
    messenger.keys.transaction(
      () => messenger.repository.encryptMessage({ jid, data: Buffer.from("halo\u0001") }),
      "999@s.whatsapp.net",
    );
  await messenger.repository.injectE2ESession({ jid, session });
  const frames = [await encrypt(), await encrypt()];
  expect(messenger.sessionWrites()).toBe(1 + frames.length);
  const readable = frames.map(({ type, ciphertext }) =>
    phone.repository.decryptMessage({ jid: "777@lid", type, ciphertext }).then((text) => text.toString()),
  );
  expect(await Promise.all(readable)).toEqual(["halo\u0001", "halo\u0001"]);
});
