import { BufferJSON, type SignalDataSet } from "baileys";
import type postgres from "postgres";
import { beforeEach, describe, expect, test } from "vitest";
import { sealingWith } from "#lib/encryption.ts";
import { type AuthState, openAuthState } from "#lib/messenger/channels/whatsapp/auth-state.ts";
import { messengerKeySchema } from "#lib/secrets/schemas.ts";
import { secretTable } from "#lib/secrets/table.ts";
import { createMessengerDatabase } from "../../messenger-database.ts";
import { holdNextWrite } from "../../next-write.ts";

const { mint } = secretTable["messenger-key"];
const sealing = sealingWith(mint());

describe("a sealed value", () => {
  const place = "auth_key/session/1";
  const clear = Buffer.from("ratchet");

  test("opens at its place, and is another each time", () => {
    const sealed = sealing.seal(place, clear);
    expect(sealing.open(place, sealed)).toEqual(clear);
    expect(sealing.seal(place, clear)).not.toEqual(sealed);
    expect(sealed.includes(clear)).toBe(false);
    expect(sealing.open(place, sealing.seal(place, Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test("opens nowhere else, with no other key, and not after any bit was changed", () => {
    const sealed = sealing.seal(place, clear);
    expect(() => sealing.open("auth_key/session/2", sealed)).toThrow("cannot be opened");
    expect(() => sealingWith(mint()).open(place, sealed)).toThrow("cannot be opened");
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => sealing.open(place, changed)).toThrow(/cannot be opened|unknown format/);
    }
    expect(() => sealing.open(place, sealed.subarray(0, 20))).toThrow("unknown format");
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
    openAuthState({ sql, sealing, ...(epoch !== undefined && { epoch }) });
  const count = async () => Number((await sql`select count(*)::int as n from messaging.auth_key`)[0]?.n);
  const lead = (epoch: number) => sql`
    insert into messaging.leadership (epoch, holder) values (${epoch}, 'test')
    on conflict (only_row) do update set epoch = excluded.epoch`;
  const pair = { public: Buffer.from("public-key"), private: Buffer.from("private-key") };

  beforeEach(async () => {
    database = await createMessengerDatabase();
    sql = database.connect(3);
  });

  test("keeps credentials and keys of every kind for the next process", async () => {
    const { state, saveCreds } = (await open()).lend();
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

    const again = (await open()).lend().state;
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

  test("writes and removes in one go, or not at all", async () => {
    const { state } = (await open()).lend();
    await state.keys.set({ "pre-key": { 1: pair, 2: pair } });
    await state.keys.set({ "pre-key": { 1: null, 3: pair }, "lid-mapping": { a: "b" } });
    expect(Object.keys(await state.keys.get("pre-key", ["1", "2", "3"]))).toEqual(["2", "3"]);
    const broken = { "pre-key": { 4: pair, "\0": pair } };
    await expect(state.keys.set(broken)).rejects.toThrow();
    expect(await state.keys.get("pre-key", ["4"])).toEqual({});
  });

  test("writes hundreds of keys at once, as for a first login", async () => {
    const { state } = (await open()).lend();
    const many = Object.fromEntries(Array.from({ length: 812 }, (_, i) => [String(i + 1), pair]));
    await state.keys.set({ "pre-key": many });
    expect(Object.keys(await state.keys.get("pre-key", Object.keys(many))).length).toBe(812);
  });

  test("holds nothing that can be read without the key", async () => {
    const { state, saveCreds } = (await open()).lend();
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

  test("is not begun anew when the key does not fit", async () => {
    await (await open()).lend().saveCreds();
    await expect(openAuthState({ sql, sealing: sealingWith(mint()) })).rejects.toThrow("opened");
    expect(await count()).toBe(1);
  });

  test("of a value that was moved to another place is refused", async () => {
    const { state } = (await open()).lend();
    await state.keys.set({ session: { a: Buffer.from("1"), b: Buffer.from("2") } });
    await sql`update messaging.auth_key set value = (select value from messaging.auth_key where id = 'a')`;
    await expect(Promise.resolve(state.keys.get("session", ["b"]))).rejects.toThrow("cannot be opened");
  });

  test("is gone when it is cleared, and begins with other keys", async () => {
    const auth = await open();
    const before = auth.lend();
    await before.saveCreds();
    await before.state.keys.set({ "pre-key": { 1: pair } });
    await before.takeBack();
    await auth.clear();
    expect(await count()).toBe(0);
    const { state } = auth.lend();
    expect(state.creds.noiseKey.public).not.toEqual(before.state.creds.noiseKey.public);
    expect(auth.isPaired()).toBe(false);
  });

  test("refuses what comes from a connection that is over", async () => {
    const lease = (await open()).lend();
    await lease.saveCreds();
    await lease.takeBack();
    await expect(Promise.resolve(lease.state.keys.set({ "pre-key": { 2: pair } }))).rejects.toThrow(
      "is over",
    );
    await expect(lease.saveCreds()).rejects.toThrow("is over");
    expect(await count()).toBe(1);
  });

  test("is taken back only when the keys that were under way are written", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const lease = (await open()).lend();
    const order: string[] = [];
    const written = Promise.resolve(lease.state.keys.set({ "pre-key": { 1: pair } }));
    const all = [written.then(() => order.push("written")), lease.takeBack().then(() => order.push("over"))];
    await held.untilWaiting();
    await held.release();
    await Promise.all(all);
    expect([order, await count()]).toEqual([["written", "over"], 1]);
  });

  test("is taken back only when the credentials are saved, those included that wait for an earlier save", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const lease = (await open()).lend();
    const first = lease.saveCreds();
    await held.untilWaiting();
    lease.state.creds.nextPreKeyId = 32;
    const all = [first, lease.saveCreds(), lease.takeBack()];
    await held.release();
    await Promise.all(all);
    expect((await open()).lend().state.creds.nextPreKeyId).toBe(32);
  });

  test("keeps the last credentials, though an earlier save takes longer than a later one would", async () => {
    const held = await holdNextWrite(database, { table: "auth_key" });
    const { state, saveCreds } = (await open()).lend();
    const saves = [saveCreds()];
    await held.untilWaiting();
    state.creds.nextPreKeyId = 32;
    saves.push(saveCreds());
    // a save that does not wait for the first one is through before these
    await state.keys.set({ "pre-key": { 1: pair } });
    await held.release();
    await Promise.all(saves);
    expect((await open()).lend().state.creds.nextPreKeyId).toBe(32);
  });

  test("has a later term begin only when the write under way has ended", async () => {
    await lead(1);
    const held = await holdNextWrite(database, { table: "auth_key" });
    const { state } = (await open(1)).lend();
    const written = Promise.resolve(state.keys.set({ session: { a: Buffer.from("1") } }));
    await held.untilWaiting();
    const next = lead(2).execute();
    await held.untilWaiting(2);
    await held.release();
    await Promise.all([written, next]);
    expect(await count()).toBe(1);
  });

  test("refuses every write of a leader that leads no more", async () => {
    await lead(1);
    const old = await open(1);
    const { state, saveCreds } = old.lend();
    await state.keys.set({ session: { a: Buffer.from("1") } });
    await lead(2);
    const late = Promise.resolve(state.keys.set({ session: { a: Buffer.from("0") } }));
    await expect(late).rejects.toThrow("another leader");
    await expect(saveCreds()).rejects.toThrow("another leader");
    await expect(old.clear()).rejects.toThrow("another leader");
    const { state: current } = (await open(2)).lend();
    expect(await current.keys.get("session", ["a"])).toEqual({ a: Buffer.from("1") });
  });

  test("waits five seconds for a database that is silent, and takes the late write back", async () => {
    const { state, takeBack } = (await open()).lend();
    const held = await holdNextWrite(database, { table: "auth_key" });
    const late = Promise.resolve(state.keys.set({ session: { a: Buffer.from("1") } }));
    await expect(late).rejects.toThrow("did not answer within 5000 ms");
    await held.untilWaiting(0);
    await held.release();
    await takeBack();
    expect(await count()).toBe(0);
  });
});
