import { createRequire } from "node:module";
import { BufferJSON, Curve, proto } from "baileys";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { createAuthority } from "../../../infra/local/whatsapp/wire/noise.ts";
import {
  awaitClose,
  awaitUpdate,
  connect,
  createState,
  logIn,
  pair,
  runPlatform,
} from "./whatsapp-client.ts";

const userOf = (jid = "") => jid.split(/[:@]/)[0];

/** libsignal's own check, whose result the client library ignores. */
const { curve } = createRequire(import.meta.resolve("baileys"))("libsignal");
const isSignedStrictly = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean =>
  curve.verifySignature(Buffer.concat([Buffer.from([5]), key]), message, signature);

describe("pairing", () => {
  test("by QR code links the client, which then restarts and logs in", async () => {
    const platform = await runPlatform();
    const state = createState();
    const socket = connect(platform, state);
    const closed = awaitClose(socket);
    const { qr = "" } = await awaitUpdate(socket, (update) => update.qr !== undefined);
    expect(await platform.scan(qr)).toBe(`${platform.account.number}:1@s.whatsapp.net`);
    expect(await closed).toBe(515);
    const again = await logIn(platform, state);
    expect(userOf(again.user?.id)).toBe(platform.account.number);
    expect(userOf(again.user?.lid)).toBe(platform.account.lid);
    expect(platform.faults).toEqual([]);
  });

  test.each([
    [0, 812],
    [1, 5],
  ])("by a client that is told it has %i keys makes it upload %i", async (leastKeys, made) => {
    const platform = await runPlatform();
    platform.behave({ leastKeys });
    const state = await pair(platform);
    await logIn(platform, state);
    expect(state.creds.nextPreKeyId - 1).toBe(made);
  });

  test("by code links the client, which then restarts and logs in", async () => {
    const platform = await runPlatform();
    const state = createState();
    const socket = connect(platform, state);
    const closed = awaitClose(socket);
    await awaitUpdate(socket, (update) => update.qr !== undefined);
    const code = await socket.requestPairingCode(platform.account.number);
    await platform.until(() => platform.codeAwaited);
    expect(await platform.enterCode(`${code.slice(0, 4)}-${code.slice(4)}`)).toMatch(/:1@/);
    expect(await closed).toBe(515);
    expect(state.creds.registered).toBe(true);
    expect(userOf((await logIn(platform, state)).user?.id)).toBe(platform.account.number);
    expect(platform.faults).toEqual([]);
  });

  test("by a wrong code fails, and the right one still works", async () => {
    const platform = await runPlatform();
    const socket = connect(platform, createState());
    await awaitUpdate(socket, (update) => update.qr !== undefined);
    const code = await socket.requestPairingCode(platform.account.number, "ABCD1234");
    await platform.until(() => platform.codeAwaited);
    await expect(platform.enterCode("ABCD1235")).rejects.toThrow("not the one that was shown");
    expect(await platform.enterCode(code)).toMatch(/@s\.whatsapp\.net$/);
  });

  test("by an outdated QR code is rejected", async () => {
    const platform = await runPlatform();
    await expect(platform.scan("https://wa.me/x#2@a,b,c,d,1")).rejects.toThrow("no connected client");
    await expect(platform.enterCode("ABCDEFGH")).rejects.toThrow("no connected client");
  });

  test("outlives the client's process: the stored state logs in again", async () => {
    const platform = await runPlatform();
    const state = await pair(platform);
    const kept = JSON.stringify(state.creds, BufferJSON.replacer);
    const killed = await logIn(platform, state);
    (killed.ws as unknown as { socket: WebSocket }).socket.terminate();
    await platform.until(() => platform.sockets.open === 0);
    const again = { creds: JSON.parse(kept, BufferJSON.reviver), keys: state.keys };
    expect((await logIn(platform, again)).user?.id).toBe(state.creds.me?.id);
  });

  test("and login pass in a client with strict signature checks, unlike another root key", async () => {
    const platform = await runPlatform();
    const verify = vi.spyOn(Curve, "verify").mockImplementation(isSignedStrictly);
    onTestFinished(() => verify.mockRestore());
    const state = await pair(platform);
    await logIn(platform, state);
    // two certificates at each handshake, and the account's word for the device
    expect(verify.mock.results.map(({ value }) => value)).toEqual([true, true, true, true, true]);
    const stranger = { ...platform, rootKey: createAuthority().rootKey };
    expect(await awaitClose(connect(stranger, state))).toBe(400);
  });

  test("is required for a client whose keys are not linked", async () => {
    const platform = await runPlatform();
    const state = await pair(platform);
    const stranger = createState();
    stranger.creds.me = state.creds.me ?? { id: "" };
    expect(await awaitClose(connect(platform, stranger))).toBe(401);
  });
});

describe("the platform's signatures", () => {
  test("of its certificates pass a strict check", () => {
    const { rootKey, chain } = createAuthority();
    const { intermediate, leaf } = proto.CertChain.decode(chain);
    const { Details } = proto.CertChain.NoiseCertificate;
    const key = Details.decode(intermediate?.details ?? Buffer.alloc(0)).key ?? Buffer.alloc(0);
    for (const [signer, certificate] of [
      [rootKey, intermediate],
      [key, leaf],
    ] as const) {
      const { details, signature } = certificate ?? {};
      if (!details || !signature) throw new Error("no certificate");
      expect(isSignedStrictly(signer, details, signature)).toBe(true);
    }
  });
});
