import type { SignalDataSet } from "baileys";
import type { AuthState, Lease } from "#lib/channels/whatsapp/link/auth-state.ts";

/** What is known of the operator's own number and of the account from the stored keys. */
export interface OwnNumber {
  /** The keys to connect with. */
  readonly auth: AuthState;
  /** Resolves when a message from the number has been decrypted: it is the operator's, who was asked to write. */
  readonly proven: Promise<void>;
  hasLid(): Promise<boolean>;
  accountHasLid(): boolean;
}

/** `628…_1.0`: the user, the kind of address, and the device. */
const userOf = (address: string): string => address.split(/[_.]/)[0] ?? "";

/**
 * Watches the keys that are stored for a Signal session with a number. Before this machine has sent anything, such a
 * session exists only once a message from that number was decrypted.
 */
export const watchOwnNumber = (auth: AuthState, number: string): OwnNumber => {
  const { promise: proven, resolve } = Promise.withResolvers<void>();
  const users = new Set<string>();
  let current: Lease["state"] | undefined;
  const findLid = async (): Promise<string | undefined> =>
    (await current?.keys.get("lid-mapping", [number]))?.[number];
  const look = async (data: SignalDataSet) => {
    for (const address of Object.keys(data.session ?? {})) users.add(userOf(address));
    const lid = await findLid();
    if (users.has(number) || (lid !== undefined && users.has(lid))) resolve();
  };
  return {
    auth: {
      ...auth,
      acquire() {
        const lease = auth.acquire();
        const { keys } = lease.state;
        const set = async (data: SignalDataSet) => {
          await keys.set(data);
          await look(data);
        };
        current = { ...lease.state, keys: { ...keys, set } };
        return { ...lease, state: current };
      },
    },
    proven,
    hasLid: async () => (await findLid()) !== undefined,
    accountHasLid: () => current?.creds.me?.lid !== undefined,
  };
};
