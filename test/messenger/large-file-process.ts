import postgres from "postgres";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { noPace } from "#lib/messenger/send/pace.ts";
import { startTask } from "#lib/messenger/task.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { noSettings } from "../fleet/assignment.ts";
import { loopback } from "../steps/loopback.ts";
import { readPeakBytes } from "../steps/peak-memory.ts";

/** The settings of a messenger in another process; passed as JSON in its only argument. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly encryptionKey: EncryptionKey;
  readonly settings: Omit<WhatsAppSettings, "rootKey"> & { readonly rootKey: string };
  readonly token: string;
}

/*
 * A messenger that may download from this machine. It prints its address, and its peak memory for each line of
 * input; it stops at the end of input.
 */
const { databaseUrl, encryptionKey, settings, token }: Assignment = JSON.parse(process.argv[2] ?? "{}");
const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };
const connect = async (max: number) =>
  postgres(databaseUrl, { max, fetch_types: false, types, onnotice: () => {} });
const task = await startTask({
  connect,
  // nobody can log in to the console
  connectConsole: connect,
  encryption: encryptionWith(encryptionKey),
  platform: { ...settings, rootKey: Buffer.from(settings.rootKey, "base64") },
  pace: noPace,
  maxWaiting: 10_000,
  findTokens: async () => [token],
  findUsers: async () => [],
  findPepper: async () => digestWith({ version: 1, pepper: "p".repeat(32) }),
  jobs: [],
  findSettings: noSettings,
  host: "127.0.0.1",
  port: 0,
  connector: loopback,
});
const print = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
process.stdin.on("data", () => print({ peakBytes: readPeakBytes() }));
process.stdin.on("end", async () => {
  await task.stop();
  process.exit(0); // baileys leaves timers of up to 30 s behind
});
print({ url: task.url });
