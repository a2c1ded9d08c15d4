import { generateMessageIDV2 } from "baileys";
import type postgres from "postgres";
import { onTestFinished } from "vitest";
import { sealingWith } from "#lib/encryption.ts";
import { ChannelFailure } from "#lib/messenger/channels/channel-failure.ts";
import { openAuthState } from "#lib/messenger/channels/whatsapp/auth-state.ts";
import type { Composition } from "#lib/messenger/channels/whatsapp/composition.ts";
import {
  type ConnectionState,
  WhatsApp,
  type WhatsAppSettings,
} from "#lib/messenger/channels/whatsapp/whatsapp.ts";
import { secretTable } from "#lib/secrets/table.ts";
import { type Platform as FakePlatform, startPlatform } from "../../../../infra/local/whatsapp/platform.ts";
import { createMessengerDatabase } from "../../messenger-database.ts";

export const ownNumber = "6281100000001";
export const citizen = "6281200000042";
export const sealingKey = secretTable["messenger-key"].mint();

export const never: AbortSignal = new AbortController().signal;

/** A fake platform with one citizen's phone, gone with the test. */
export const startFake = async (): Promise<FakePlatform> => {
  const fake = await startPlatform({ account: ownNumber, phones: [citizen] });
  onTestFinished(() => fake.stop());
  return fake;
};

/** What a messenger runs between. */
export interface Scene {
  readonly fake: FakePlatform;
  readonly sql: postgres.Sql;
  /** Of the database. */
  readonly url: string;
}

/** A fake platform and a messenger's empty database, gone with the test. */
export const createScene = async (): Promise<Scene> => {
  const [{ sql, url }, fake] = await Promise.all([createMessengerDatabase(), startFake()]);
  return { sql, url, fake };
};

export const settingsOf = ({ url, rootKey, mediaCa }: FakePlatform): WhatsAppSettings => ({
  url,
  rootKey,
  mediaCa,
  answerTimeoutMs: 5_000,
  reconnection: { minMs: 20, maxMs: 200, stableMs: 60_000 },
});

/** Resolves with the next state of a kind, or the present one. */
export const untilState = <K extends ConnectionState["kind"]>(
  platform: WhatsApp,
  kind: K,
): Promise<Extract<ConnectionState, { kind: K }>> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      off();
      reject(new Error(`the state became ${platform.state().kind}, never ${kind}`));
    }, 10_000);
    const look = (state: ConnectionState) => {
      if (state.kind !== kind) return;
      clearTimeout(timer);
      off();
      resolve(state as Extract<ConnectionState, { kind: K }>);
    };
    const off = platform.on("state", look);
    look(platform.state());
  });

export interface MessengerOptions extends Pick<Scene, "fake" | "sql"> {
  readonly settings?: WhatsAppSettings;
  readonly payloads?: ReadonlyMap<string, Uint8Array>;
  readonly epoch?: number;
}

/** A messenger over a database, as a task that has just started; ended with the test. */
export const linkWhatsApp = async ({ fake, sql, settings, payloads, epoch }: MessengerOptions) => {
  const auth = await openAuthState({
    sql,
    sealing: sealingWith(sealingKey),
    ...(epoch !== undefined && { epoch }),
  });
  const platform = new WhatsApp({
    settings: { ...settingsOf(fake), ...settings },
    auth,
    findPayload: async (id) => payloads?.get(id),
  });
  onTestFinished(() => platform.stop());
  return platform;
};

/** Starts a messenger and links it by its QR code where that is asked for. */
export const openPaired = async (options: MessengerOptions): Promise<WhatsApp> => {
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

/** Resolves with the next value of an event of a messenger. */
export const nextOf = <E extends "state" | "receipt">(platform: WhatsApp, event: E) =>
  new Promise<Parameters<Parameters<typeof platform.on<E>>[1]>[0]>((resolve) => {
    const off = platform.on(event, (value) => {
      off();
      resolve(value);
    });
  });

/** A text to the citizen; more makes it something else. */
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

/** How something fails that must fail. */
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
