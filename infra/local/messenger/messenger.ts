import { setTimeout } from "node:timers/promises";
import type { MessengerAccess } from "#lib/messaging/messenger-client.ts";
import { atPort, type Via } from "../loopback.ts";
import { type Platform, startPlatform } from "../whatsapp/platform.ts";
import { startMessengerProcess } from "./process.ts";

/** Number of the simulated phone. */
export const demoPhone = "6281200000001";

export interface LocalMessengerOptions {
  /** Environment variables of every function. */
  readonly variables: Readonly<Record<string, string>>;
  /** Token of the messenger's API. */
  readonly token: string;
  /** `real`: a real phone is to be paired in the console. */
  readonly platform: "fake" | "real";
  /** Ports of the messenger with its console, and of the platform's control API. Default: any free ones. */
  readonly ports?: { readonly console: number; readonly platform: number } | undefined;
  readonly onLine: (line: string) => void;
  /** Is called whenever the process has ended by itself; then it is started again. By default it is not. */
  readonly onEnd?: (() => void) | undefined;
  readonly via?: Via | undefined;
}

const settingsOf = async (platform: Platform, via: Via | undefined) => ({
  PLATFORM_URL: await atPort(platform.url, "platform", via),
  PLATFORM_ROOT_KEY: platform.rootKey.toString("base64"),
  PLATFORM_MEDIA_CA: platform.mediaCa,
  PLATFORM_VERSION_URL: platform.versionUrl,
  // a restarted platform does not know its earlier devices, and nobody watches
  PLATFORM_PAIRING: "automatic",
  MESSENGER_PACE: "off",
});

const restartMs = 1_000;

/** On the simulated platform, every number has an account except those that end in 0000. */
const isRegistered = (number: string) => !number.endsWith("0000");

/** Starts the messenger and, unless a real phone is used, the simulated platform with a paired phone. */
export const startMessenger = async ({
  variables,
  token,
  platform: kind,
  ports,
  onLine,
  onEnd,
  via,
}: LocalMessengerOptions) => {
  const platform =
    kind === "fake"
      ? await startPlatform({ phones: [demoPhone], isRegistered, controlPort: ports?.platform, via })
      : undefined;
  const ending = new AbortController();
  const all = {
    ...variables,
    MESSENGER_HOST: "127.0.0.1",
    MESSENGER_PORT: String(ports?.console ?? 0),
    LOG_LEVEL: "info",
    ...(platform && (await settingsOf(platform, via))),
  };
  try {
    let process = await startMessengerProcess(all, onLine);
    const { url } = process;
    const pairing = platform && keepPaired(platform, { url, token }, ending.signal);
    const restart = async (ended: () => void) => {
      const samePort = { ...all, MESSENGER_PORT: new URL(url).port };
      for (;;) {
        await process.exited;
        if (ending.signal.aborted) return;
        ended();
        await setTimeout(restartMs, undefined, { signal: ending.signal }).catch(() => {});
        // one that does not start is tried again
        process = await startMessengerProcess(samePort, onLine).catch(() => process);
        if (ending.signal.aborted) return process.stop();
      }
    };
    const restarting = onEnd && restart(onEnd);
    return {
      url,
      platform,
      get process() {
        return process;
      },
      async stop() {
        ending.abort();
        await pairing;
        await process.stop();
        await restarting;
        await platform?.stop();
      },
    };
  } catch (error) {
    await platform?.stop();
    throw error;
  }
};

const everyMs = 300;

const findQr = async ({ url, token }: MessengerAccess, signal: AbortSignal): Promise<string | undefined> => {
  const response = await fetch(`${url}/connection`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  const { qr } = (await response.json()) as { qr?: string };
  return qr;
};

/**
 * Pairs the simulated phone whenever the messenger shows a QR code, until the signal. A restarted platform does not
 * know its earlier devices.
 */
export const keepPaired = async (
  platform: Platform,
  access: MessengerAccess,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    // retry: the messenger may be stopping, or the code may have been scanned already
    const qr = await findQr(access, signal).catch(() => undefined);
    if (qr) await platform.scan(qr).catch(() => {});
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
