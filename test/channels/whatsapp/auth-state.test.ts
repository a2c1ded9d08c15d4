import { BufferJSON, type SignalDataSet } from "baileys";
import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { type AuthState, openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { messengerKeySchema } from "#lib/secrets/schemas.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { holdNextWrite } from "../../fleet/next-write.ts";

const { mint } = secretTable["messenger-key"];
const encryption = encryptionWith(mint());

describe("an encrypted value", () => {
  const context = "auth_key/session/1";
  const plaintext = Buffer.from("ratchet");

  test("decrypts in its context and differs each time", () => {
    const encrypted = encryption.encrypt(context, plaintext);
    expect(encryption.decrypt(context, encrypted)).toEqual(plaintext);
    expect(encryption.encrypt(context, plaintext)).not.toEqual(encrypted);
    expect(encrypted.includes(plaintext)).toBe(false);
    expect(encryption.decrypt(context, encryption.encrypt(context, Buffer.alloc(0)))).toEqual(
      Buffer.alloc(0),
    );
  });

  test("does not decrypt in another context, with another key, or after a change of any bit", () => {
    const encrypted = encryption.encrypt(context, plaintext);
    expect(() => encryption.decrypt("auth_key/session/2", encrypted)).toThrow("cannot be decrypted");
    expect(() => encryptionWith(mint()).decrypt(context, encrypted)).toThrow("cannot be decrypted");
    for (let at = 0; at < encrypted.length; at++) {
      const changed = Buffer.from(encrypted);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => encryption.decrypt(context, changed)).toThrow(/cannot be decrypted|unknown format/);
    }
    expect(() => encryption.decrypt(context, encrypted.subarray(0, 20))).toThrow("unknown format");
  });

  test("has a key of 256 bits and no other", () => {
    expect(messengerKeySchema().safeParse({ key: "short" }).success).toBe(false);
    expect(messengerKeySchema().safeParse(mint()).success).toBe(true);
  });
});

describe("the auth state", () => {
  let database: Awaited<ReturnType<typeof createMessengerDatabase>>;
  let sql: postgres.Sql;
  const open = (epoch?: number): Promise<AuthState> =>
    openAuthState({ sql, encryption, ...(epoch !== undefined && { epoch }) });
  const count = async () => Number((await sql`select count(*)::int as n from messaging.auth_key`)[0]?.n);
  const lead = (epoch: number) => sql`
    insert into messaging.leadership (account, epoch, holder) values (1, ${epoch}, 'test')
    on conflict (account) do update set epoch = excluded.epoch`;
  const pair = { public: Buffer.from("public-key"), private: Buffer.from("private-key") };

  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(3);
  });

  test("stores credentials and keys of every type for the next process", async () => {
    const { state, saveCreds } = (await open()).acquire();
    state.creds.nextPreKeyId = 31;
    await saveCreds();
    const data: SignalDataSet = {
      "pre-key": { 1: pair, 2: pair },
      session: { "62811.0": { _sessions: { a: 1 } } as unknown as Uint8Array },
      "device-list": { "62811": ["0", "3"] },
      "app-state-sync-key": { k: { keyData: Buffer.from("sync") } },
      "lid-mapping": { "62811": "99", "99_reverse": "62811" },
    };
    await state.keys.set(data);

    const again = (await open()).acquire().state;
    expect(JSON.stringify(again.creds, BufferJSON.replacer)).toBe(
      JSON.stringify(state.creds, BufferJSON.replacer),
    );
    expect(await again.keys.get("pre-key", ["1", "2", "3"])).toEqual({ 1: pair, 2: pair });
    expect(await again.keys.get("session", ["62811.0"])).toEqual(data.session);
    expect(await again.keys.get("device-list", ["62811"])).toEqual(data["device-list"]);
    expect((await again.keys.get("app-state-sync-key", ["k"])).k?.keyData).toEqual(Buffer.from("sync"));
    expect(await again.keys.get("lid-mapping", ["62811", "99_reverse"])).toEqual(data["lid-mapping"]);
    expect(await again.keys.get("session", [])).toEqual({});
  });

  test("writes and deletes atomically", async () => {
    const { state } = (await open()).acquire();
    await state.keys.set({ "pre-key": { 1: pair, 2: pair } });
    await state.keys.set({ "pre-key": { 1: null, 3: pair }, "lid-mapping": { a: "b" } });
    expect(Object.keys(await state.keys.get("pre-key", ["1", "2", "3"]))).toEqual(["2", "3"]);
    const broken = { "pre-key": { 4: pair, "\0": pair } };
    await expect(state.keys.set(broken)).rejects.toThrow();
    expect(await state.keys.get("pre-key", ["4"])).toEqual({});
  });

  test("reads the newest of the versions that two writes at once leave, and deletes all of them", async () => {
    const state = await open();
    const { keys } = state.acquire().state;
    const leaveOlder = () => sql`
      insert into messaging.auth_key (account, type, id, version, value) overriding system value
      select account, type, id, version - 1000, '' from messaging.auth_key`;
    await keys.set({ "pre-key": { 1: pair } });
    await leaveOlder();
    expect(await keys.get("pre-key", ["1"])).toEqual({ 1: pair });
    await keys.set({ "pre-key": { 1: null } });
    expect(await count()).toBe(0);
    await keys.set({ "pre-key": { 1: pair } });
    await leaveOlder();
    await state.clear();
    expect(await count()).toBe(0);
  });

  test("writes hundreds of keys at once, as on first login", async () => {
    const { state } = (await open()).acquire();
    const many = Object.fromEntries(Array.from({ length: 812 }, (_, i) => [String(i + 1), pair]));
    await state.keys.set({ "pre-key": many });
    expect(Object.keys(await state.keys.get("pre-key", Object.keys(many))).length).toBe(812);
  });

  test("contains no plaintext", async () => {
    const { state, saveCreds } = (await open()).acquire();
    state.creds.me = { id: "6281199998888:1@s.whatsapp.net", name: "Dinas" };
    await saveCreds();
    await state.keys.set({ "pre-key": { 1: pair }, "lid-mapping": { x: "6281277776666" } });
    const rows = await sql<{ value: Buffer }[]>`select value from messaging.auth_key`;
    expect(rows.length).toBe(3);
    const all = Buffer.concat(rows.map(({ value }) => value)).toString("latin1");
    const secrets = [
      "6281199998888",
      "Dinas",
      "private-key",
      pair.private.toString("base64"),
      "6281277776666",
    ];
    for (const secret of [...secrets, "noiseKey", state.creds.advSecretKey])
      expect(all).not.toContain(secret);
  });

  test("is not replaced when the encryption key is wrong", async () => {
    await (await open()).acquire().saveCreds();
    await expect(openAuthState({ sql, encryption: encryptionWith(mint()) })).rejects.toThrow("decrypted");
    expect(await count()).toBe(1);
  });

  test("rejects a value that was moved to another row", async () => {
    const { state } = (await open()).acquire();
    await state.keys.set({ session: { a: Buffer.from("1"), b: Buffer.from("2") } });
    await sql`update messaging.auth_key set value = (select value from messaging.auth_key where id = 'a')`;
    await expect(Promise.resolve(state.keys.get("session", ["b"]))).rejects.toThrow("cannot be decrypted");
  });

  test("is deleted by clear and starts with new keys", async () => {
    const auth = await open();
    const before = auth.acquire();
    await before.saveCreds();
    await before.state.keys.set({ "pre-key": { 1: pair } });
    await before.release();
    await auth.clear();
    expect(await count()).toBe(0);
    const { state } = auth.acquire();
    expect(state.creds.noiseKey.public).not.toEqual(before.state.creds.noiseKey.public);
    expect(auth.isPaired()).toBe(false);
  });

  test("rejects writes after the lease was released", async () => {
    const lease = (await open()).acquire();
    await lease.saveCreds();
    await lease.release();
    await expect(Promise.resolve(lease.state.keys.set({ "pre-key": { 2: pair } }))).rejects.toThrow(
      "was released",
    );
    await expect(lease.saveCreds()).rejects.toThrow("was released");
    expect(await count()).toBe(1);
  });

  test("is released only after pending keys are written", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const lease = (await open()).acquire();
    const order: string[] = [];
    const written = Promise.resolve(lease.state.keys.set({ "pre-key": { 1: pair } }));
    const all = [
      written.then(() => order.push("written")),
      lease.release().then(() => order.push("released")),
    ];
    await held.untilWaiting();
    await held.release();
    await Promise.all(all);
    expect([order, await count()]).toEqual([["written", "released"], 1]);
  });

  test("is released only after the credentials are saved, queued saves included", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const lease = (await open()).acquire();
    const first = lease.saveCreds();
    await held.untilWaiting();
    lease.state.creds.nextPreKeyId = 32;
    const all = [first, lease.saveCreds(), lease.release()];
    await held.release();
    await Promise.all(all);
    expect((await open()).acquire().state.creds.nextPreKeyId).toBe(32);
  });

  test("stores the last credentials even if an earlier save is slow", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const { state, saveCreds } = (await open()).acquire();
    const saves = [saveCreds()];
    await held.untilWaiting();
    state.creds.nextPreKeyId = 32;
    saves.push(saveCreds());
    // a save that did not wait for the first one would be done before these
    await state.keys.set({ "pre-key": { 1: pair } });
    await held.release();
    await Promise.all(saves);
    expect((await open()).acquire().state.creds.nextPreKeyId).toBe(32);
  });

  test("delays a later term until the write in progress has ended", async () => {
    await lead(1);
    const held = await holdNextWrite(database, { table: "auth_key" });
    const { state } = (await open(1)).acquire();
    const written = Promise.resolve(state.keys.set({ session: { a: Buffer.from("1") } }));
    await held.untilWaiting();
    const next = lead(2).execute();
    await held.untilWaiting(2);
    await held.release();
    await Promise.all([written, next]);
    expect(await count()).toBe(1);
  });

  test("rejects every write of a former leader", async () => {
    await lead(1);
    const old = await open(1);
    const { state, saveCreds } = old.acquire();
    await state.keys.set({ session: { a: Buffer.from("1") } });
    await lead(2);
    const late = Promise.resolve(state.keys.set({ session: { a: Buffer.from("0") } }));
    await expect(late).rejects.toThrow("another leader");
    await expect(saveCreds()).rejects.toThrow("another leader");
    await expect(old.clear()).rejects.toThrow("another leader");
    const { state: current } = (await open(2)).acquire();
    expect(await current.keys.get("session", ["a"])).toEqual({ a: Buffer.from("1") });
  });

  test("does not wait for an unresponsive database, and cancels the late write", async () => {
    const auth = await openAuthState({ sql, encryption, writeTimeoutMs: 100 });
    const { state, release } = auth.acquire();
    const held = await holdNextWrite(database, { table: "auth_key" });
    const late = Promise.resolve(state.keys.set({ session: { a: Buffer.from("1") } }));
    await expect(late).rejects.toThrow("did not respond within 100 ms");
    await held.untilWaiting(0);
    await held.release();
    await release();
    expect(await count()).toBe(0);
  });
});
