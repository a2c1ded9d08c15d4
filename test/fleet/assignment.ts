import postgres from "postgres";
import type { CloudApiSettings } from "#lib/channels/cloud-api/settings.ts";
import type { SmsSettings } from "#lib/channels/sms/settings.ts";
import { types } from "#lib/db/credentials.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import type { Pace } from "#lib/messenger/send/pace.ts";
import type { TaskOptions } from "#lib/messenger/task.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import type { Platform } from "../../infra/local/whatsapp/platform.ts";
import { loopback } from "../steps/loopback.ts";

/** Of the numbers that opt out. */
export const pepper = "p".repeat(32);

/** Of a stage that has no channel besides WhatsApp. */
export const noSettings: TaskOptions["findSettings"] = async () => Promise.reject(new Error("no settings"));

/** What a task in a process of its own needs to know, as JSON. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly encryptionKey: EncryptionKey;
  readonly platform: {
    readonly url: string;
    /** In base64. */
    readonly rootKey: string;
    readonly mediaCa: string;
    readonly versionUrl: string;
  };
  /** The settings of all accounts that are reached by requests. */
  readonly channel?: SmsSettings | CloudApiSettings;
  readonly pace: Pace;
  readonly token: string;
}

export const describePlatform = ({
  url,
  rootKey,
  mediaCa,
  versionUrl,
}: Platform): Assignment["platform"] => ({
  ...{ url, mediaCa, versionUrl },
  rootKey: rootKey.toString("base64"),
});

export const taskOptions = (assignment: Assignment): TaskOptions => {
  const { databaseUrl, encryptionKey, platform, channel, pace, token } = assignment;
  const connect: TaskOptions["connect"] = async (max, onclose = () => {}) =>
    postgres(databaseUrl, { max, onclose, types, fetch_types: false, onnotice: () => {} });
  return {
    findSettings: noSettings,
    connect,
    // nobody can log in to the console
    connectConsole: connect,
    encryption: encryptionWith(encryptionKey),
    platform: {
      ...platform,
      rootKey: Buffer.from(platform.rootKey, "base64"),
      reconnection: { minMs: 20, maxMs: 1_000, stableMs: 60_000 },
    },
    ...(channel && { findSettings: async () => channel as never, connector: loopback }),
    pace,
    maxWaiting: 1_000_000,
    findTokens: async () => [token],
    findUsers: async () => [],
    findPepper: async () => digestWith({ version: 1, pepper }),
    jobs: [],
    host: "127.0.0.1",
    port: 0,
  };
};
