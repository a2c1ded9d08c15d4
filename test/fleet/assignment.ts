import postgres from "postgres";
import { types } from "#lib/db/credentials.ts";
import type { SmsSettings } from "#lib/messaging/channel-settings.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import type { Pace } from "#lib/messenger/send/pace.ts";
import type { TaskOptions } from "#lib/messenger/task.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { loopback } from "../steps/loopback.ts";
import { bareStage } from "./bare-stage.ts";

/** What a task of the fleet needs to know, as JSON. */
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
  readonly sms: SmsSettings;
  readonly pace: Pace;
  readonly token: string;
}

export const taskOptions = (assignment: Assignment): TaskOptions => {
  const { databaseUrl, encryptionKey, platform, sms, pace, token } = assignment;
  return {
    ...bareStage,
    connect: async (max, onclose = () => {}) =>
      postgres(databaseUrl, { max, onclose, types, fetch_types: false, onnotice: () => {} }),
    encryption: encryptionWith(encryptionKey),
    platform: {
      ...platform,
      rootKey: Buffer.from(platform.rootKey, "base64"),
      reconnection: { minMs: 20, maxMs: 1_000, stableMs: 60_000 },
    },
    findSettings: async () => sms as never,
    connector: loopback,
    pace,
    maxWaiting: 1_000_000,
    findTokens: async () => [token],
    findUsers: async () => [],
    findPepper: async () => digestWith({ version: 1, pepper: "p".repeat(32) }),
    jobs: [],
    host: "127.0.0.1",
    port: 0,
  };
};
