import { initAuthCreds, type SignalDataSet } from "baileys";
import { expect, test } from "vitest";
import type { AuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { watchOwnNumber } from "./own-number.ts";

const number = "6281200000007";
const lid = "123456789012345";
const session = (address: string): SignalDataSet => ({ session: { [address]: new Uint8Array(1) } });
const mapping: SignalDataSet = { "lid-mapping": { [number]: lid, [`${lid}_reverse`]: number } };

/** Watches keys in memory that are stored in this order. */
const store = async (...changes: readonly SignalDataSet[]) => {
  const stored: Record<string, Record<string, unknown>> = {};
  const creds = initAuthCreds();
  const auth: Partial<AuthState> = {
    acquire: () => ({
      state: {
        creds,
        keys: {
          get: async (type, ids) =>
            Object.fromEntries(ids.map((id) => [id, stored[type]?.[id]]).filter(([, value]) => value)),
          set: async (data) => {
            for (const [type, values] of Object.entries(data)) stored[type] = { ...stored[type], ...values };
          },
        },
      },
      saveCreds: async () => {},
      release: async () => {},
    }),
  };
  const own = watchOwnNumber(auth as AuthState, number);
  const { keys } = own.auth.acquire().state;
  for (const change of changes) await keys.set(change);
  return { own, creds };
};

const isProven = ({ proven }: { readonly proven: Promise<void> }) =>
  Promise.race([proven.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]);

test.each([
  ["its number", [session(`${number}.0`)]],
  ["another device of it", [session(`${number}.12`)]],
  ["its LID", [mapping, session(`${lid}_1.0`)]],
  ["its LID, which becomes known afterwards", [session(`${lid}_1.3`), mapping]],
])("a session with %s proves the own number", async (_, changes) =>
  expect(await isProven((await store(...changes)).own)).toBe(true),
);

test.each([
  ["somebody else", [session("6281200000008.0"), mapping]],
  ["a LID that is not known to be its", [session(`${lid}_1.0`)]],
  ["a longer number that starts with it", [session(`${number}1.0`)]],
])("a session with %s proves nothing", async (_, changes) =>
  expect(await isProven((await store(...changes)).own)).toBe(false),
);

test("the account and the contact are on their numbers until a LID of each is known", async () => {
  const { own, creds } = await store(session(`${number}.0`));
  creds.me = { id: "6281100000001:1@s.whatsapp.net" };
  expect([own.accountHasLid(), await own.hasLid()]).toEqual([false, false]);
  creds.me.lid = "111111111111111:1@lid";
  await own.auth.acquire().state.keys.set(mapping);
  expect([own.accountHasLid(), await own.hasLid()]).toEqual([true, true]);
});
