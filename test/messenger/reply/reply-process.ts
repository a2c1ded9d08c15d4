import postgres from "postgres";
import type { CloudApiSettings, SmsSettings } from "#lib/messaging/channel-settings.ts";
import type { WhatsAppSettings } from "#lib/messenger/channels/whatsapp/settings.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { startTask } from "#lib/messenger/task.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { bareStage } from "../../fleet/bare-stage.ts";
import { loopback } from "../../steps/loopback.ts";

/** The task of a messenger in another process, which a test kills; passed as JSON in its only argument. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly encryptionKey: EncryptionKey;
  readonly pepper: string;
  readonly settings: Omit<WhatsAppSettings, "rootKey"> & { readonly rootKey: string };
  /** Of all its accounts that are reached by requests. */
  readonly channel?: SmsSettings | CloudApiSettings;
}

const assignment: Assignment = JSON.parse(process.argv[2] ?? "{}");
const { databaseUrl, encryptionKey, pepper, settings, channel } = assignment;
const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };

await startTask({
  connect: async (max, onclose = () => {}) =>
    postgres(databaseUrl, { max, fetch_types: false, types, onclose, onnotice: () => {} }),
  encryption: encryptionWith(encryptionKey),
  platform: { ...settings, rootKey: Buffer.from(settings.rootKey, "base64") },
  pace: noPace,
  maxWaiting: 10_000,
  findTokens: async () => [],
  findUsers: async () => [],
  findPepper: async () => digestWith({ version: 1, pepper }),
  jobs: [],
  ...bareStage,
  ...(channel && { findSettings: async () => channel as never, connector: loopback }),
  host: "127.0.0.1",
  port: 0,
});
