import { setTimeout } from "node:timers/promises";
import type { MessengerAccess } from "#lib/messaging/messenger-client.ts";
import type { Platform } from "../whatsapp/platform.ts";

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
