import { setTimeout } from "node:timers/promises";
import type { Platform } from "../whatsapp/platform.ts";

const everyMs = 300;

/** Where a messenger is, and what opens it. */
export interface Door {
  readonly url: string;
  readonly token: string;
}

const findQr = async ({ url, token }: Door, signal: AbortSignal): Promise<string | undefined> => {
  const response = await fetch(`${url}/connection`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  });
  const { qr } = (await response.json()) as { qr?: string };
  return qr;
};

/**
 * Holds the imitated phone before the messenger's QR whenever it shows one, until the signal: a platform that
 * was started anew knows no messenger.
 */
export const keepPaired = async (platform: Platform, door: Door, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    // a task that ends or a code that has just been scanned is no matter: it is looked at again
    const qr = await findQr(door, signal).catch(() => undefined);
    if (qr) await platform.scan(qr).catch(() => {});
    await setTimeout(everyMs, undefined, { signal }).catch(() => {});
  }
};
