import {
  addTransactionCapability,
  type DEFAULT_CONNECTION_CONFIG,
  type SignalKeyStoreWithTransaction,
} from "baileys";

/** Discards the library's log: a phone records its failures itself. */
export const silent: typeof DEFAULT_CONNECTION_CONFIG.logger = {
  level: "silent",
  child: () => silent,
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** Creates a store of Signal keys in memory. */
export const createKeyStore = (): SignalKeyStoreWithTransaction => {
  const stored: Record<string, Record<string, unknown>> = {};
  return addTransactionCapability(
    {
      get: async (type, ids) =>
        Object.fromEntries(
          ids.flatMap((id) => (stored[type]?.[id] == null ? [] : [[id, stored[type][id]]])),
        ) as never,
      set: async (changes) => {
        for (const [type, entries] of Object.entries(changes)) {
          stored[type] ??= {};
          Object.assign(stored[type], entries);
        }
      },
    },
    silent,
    { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
  );
};
