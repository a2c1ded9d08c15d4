import {
  addTransactionCapability,
  type DEFAULT_CONNECTION_CONFIG,
  type SignalKeyStoreWithTransaction,
} from "baileys";

/** Writes nothing: what the protocol's library has to say of a phone is in the phone's failures. */
export const silent: typeof DEFAULT_CONNECTION_CONFIG.logger = {
  level: "silent",
  child: () => silent,
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** Signal keys in memory. */
export const createKeyStore = (): SignalKeyStoreWithTransaction => {
  const tables = new Map<string, Map<string, unknown>>();
  const tableOf = (type: string) => {
    const table = tables.get(type) ?? new Map<string, unknown>();
    tables.set(type, table);
    return table;
  };
  return addTransactionCapability(
    {
      get: async (type, ids) => {
        const table = tableOf(type);
        return Object.fromEntries(
          ids.filter((id) => table.has(id)).map((id) => [id, table.get(id)]),
        ) as never;
      },
      set: async (changes) => {
        for (const [type, entries] of Object.entries(changes))
          for (const [id, value] of Object.entries(entries ?? {}))
            if (value === null) tableOf(type).delete(id);
            else tableOf(type).set(id, value);
      },
    },
    silent,
    { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
  );
};
