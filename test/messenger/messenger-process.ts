import { setTimeout } from "node:timers/promises";
import postgres from "postgres";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { openLoginHolds } from "#lib/channels/whatsapp/link/login-holds.ts";
import type { Composition } from "#lib/channels/whatsapp/message/composition.ts";
import { sendProgress } from "#lib/channels/whatsapp/message/signal-repository.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";

/** The task of a messenger in another process; passed as JSON in its only argument. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly encryptionKey: EncryptionKey;
  readonly settings: Omit<WhatsAppSettings, "rootKey"> & { readonly rootKey: string };
  readonly messages: readonly Composition[];
  /** Whether the process kills itself as soon as a message has left. */
  readonly crashes: boolean;
}

/*
 * Sends its messages, prints "done" and waits for SIGTERM. Any other output is a leak.
 */
const { databaseUrl, encryptionKey, settings, messages, crashes }: Assignment = JSON.parse(
  process.argv[2] ?? "{}",
);

const crashAtMessage = async () => {
  const { WebSocket } = await import("ws");
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (this: InstanceType<typeof WebSocket>, ...data: unknown[]) {
    send.apply(this, data as never);
    if (sendProgress.getStore()?.mayHaveLeft) process.kill(process.pid, "SIGKILL");
  };
};

if (crashes) await crashAtMessage();
const sql = postgres(databaseUrl, { max: 2, prepare: false, fetch_types: false });
const auth = await openAuthState({ sql, encryption: encryptionWith(encryptionKey) });
const payloads = new Map<string, Uint8Array>();
const platform = new WhatsApp({
  settings: { ...settings, rootKey: Buffer.from(settings.rootKey, "base64") },
  auth,
  loginHolds: openLoginHolds(sql),
  findPayload: async (id) => payloads.get(id),
});
platform.start();
while (platform.state().kind !== "open") await setTimeout(10);
const { signal } = new AbortController();
for (const message of messages) {
  const payload = await platform.compose(message, signal);
  payloads.set(message.id, payload);
  await platform.send(payload, signal);
}
process.stdout.write("done\n");
await new Promise((resolve) => process.once("SIGTERM", resolve));
await platform.stop();
await sql.end();
process.exit(0); // baileys leaves timers of up to 30 s behind
