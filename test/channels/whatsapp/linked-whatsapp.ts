import { generateMessageIDV2 } from "baileys";
import type postgres from "postgres";
import { onTestFinished } from "vitest";
import { ChannelFailure, type ConnectionState } from "#lib/channels/channel.ts";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { openLoginHolds } from "#lib/channels/whatsapp/link/login-holds.ts";
import type { Composition } from "#lib/channels/whatsapp/message/composition.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { secretTable } from "#lib/secrets/table/table.ts";
import { type Platform as FakePlatform, startPlatform } from "../../../infra/local/whatsapp/platform.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";

export const ownNumber = "6281100000001";
export const citizen = "6281200000042";
export const encryptionKey = secretTable["messenger-key"].mint();

export const never: AbortSignal = new AbortController().signal;

/** Starts a fake platform with one citizen's phone until the test ends. */
export const startFake = async (): Promise<FakePlatform> => {
  const fake = await startPlatform({ account: ownNumber, phones: [citizen] });
  onTestFinished(() => fake.stop());
  return fake;
};

/** The services that a messenger uses. */
export interface Scene {
  readonly fake: FakePlatform;
  readonly sql: postgres.Sql;
  readonly connect: (max?: number) => postgres.Sql;
  /** Of the database. */
  readonly url: string;
}

/** Creates a fake platform and an empty messenger database until the test ends. */
export const createScene = async (): Promise<Scene> => {
  const [{ sql, connect, url }, fake] = await Promise.all([createMessengerDatabase(), startFake()]);
  return { sql, connect, url, fake };
};

export const settingsOf = ({ url, rootKey, mediaCa, versionUrl }: FakePlatform): WhatsAppSettings => ({
  url,
  rootKey,
  mediaCa,
  versionUrl,
  answerTimeoutMs: 5_000,
  reconnection: { minMs: 20, maxMs: 200, stableMs: 60_000 },
});

/** Resolves with the current or next state of a kind. */
export const untilState = <K extends ConnectionState["kind"]>(
  platform: WhatsApp,
  kind: K,
): Promise<Extract<ConnectionState, { kind: K }>> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      off();
      reject(new Error(`the state became ${platform.state().kind}, never ${kind}`));
    }, 30_000);
    const look = (state: ConnectionState) => {
      if (state.kind !== kind) return;
      clearTimeout(timer);
      off();
      resolve(state as Extract<ConnectionState, { kind: K }>);
    };
    const off = platform.on("state", look);
    look(platform.state());
  });

export interface LinkOptions extends Pick<Scene, "fake" | "sql"> {
  readonly settings?: WhatsAppSettings;
  readonly payloads?: ReadonlyMap<string, Uint8Array>;
  readonly epoch?: number;
}

/** Creates a WhatsApp connection with the keys in the database, not started yet; stopped with the test. */
export const linkWhatsApp = async ({ fake, sql, settings, payloads, epoch }: LinkOptions) => {
  const auth = await openAuthState({
    sql,
    encryption: encryptionWith(encryptionKey),
    ...(epoch !== undefined && { epoch }),
  });
  const platform = new WhatsApp({
    settings: { ...settingsOf(fake), ...settings },
    auth,
    loginHolds: openLoginHolds(sql),
    findPayload: async (id) => payloads?.get(id),
  });
  onTestFinished(() => platform.stop());
  return platform;
};

/** Connects, and links by QR code if necessary. */
export const openPaired = async (options: LinkOptions): Promise<WhatsApp> => {
  const platform = await linkWhatsApp(options);
  const scanned = new Set<string>();
  platform.on("state", (state) => {
    if (state.kind !== "pairing" || scanned.has(state.qr)) return;
    scanned.add(state.qr);
    void options.fake.scan(state.qr);
  });
  platform.start();
  await untilState(platform, "open");
  return platform;
};

/** Resolves with the next value of an event. */
export const nextOf = <E extends "state" | "receipt">(platform: WhatsApp, event: E) =>
  new Promise<Parameters<Parameters<typeof platform.on<E>>[1]>[0]>((resolve) => {
    const off = platform.on(event, (value) => {
      off();
      resolve(value);
    });
  });

/** Makes a text to the citizen. @param more overrides it. */
export const text = (words: string, more: Partial<Composition> = {}): Composition => ({
  id: generateMessageIDV2(),
  phone: citizen,
  kind: "text",
  text: words,
  ...more,
});

/** Composes a message and sends it once. */
export const sendNew = async (platform: WhatsApp, composition: Composition) => {
  const payload = await platform.compose(composition, never);
  return { id: composition.id, payload, answer: await platform.send(payload, never) };
};

/** The failure of a promise that must reject. */
export const failureOf = (promise: Promise<unknown>): Promise<ChannelFailure> =>
  promise.then(
    () => {
      throw new Error("it should have failed");
    },
    (error: unknown) => {
      if (error instanceof ChannelFailure) return error;
      throw error;
    },
  );
