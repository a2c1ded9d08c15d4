import postgres from "postgres";
import { type SealingKey, sealingWith } from "#lib/encryption.ts";
import type { WhatsAppSettings } from "#lib/messenger/channels/whatsapp/whatsapp.ts";
import { noPace } from "#lib/messenger/send/pacing.ts";
import { startTask } from "#lib/messenger/task.ts";
import { loopback } from "./accept/loopback.ts";

/** What a messenger in a process of its own is started with; passed as JSON in its only argument. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly sealingKey: SealingKey;
  readonly settings: Omit<WhatsAppSettings, "rootKey"> & { readonly rootKey: string };
  readonly token: string;
}

/*
 * A messenger whose downloads may reach this machine. It tells its address, and the most memory it ever
 * had for each line that it is sent; it ends with its input.
 */
const { databaseUrl, sealingKey, settings, token }: Assignment = JSON.parse(process.argv[2] ?? "{}");
const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };
const task = await startTask({
  connect: async (max) => postgres(databaseUrl, { max, fetch_types: false, types, onnotice: () => {} }),
  sealing: sealingWith(sealingKey),
  platform: { ...settings, rootKey: Buffer.from(settings.rootKey, "base64") },
  pace: noPace,
  findTokens: async () => [token],
  findCredentials: async () => [],
  host: "127.0.0.1",
  port: 0,
  connector: loopback,
});
const tell = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);
process.stdin.on("data", () => tell({ peakBytes: process.resourceUsage().maxRSS * 1024 }));
process.stdin.on("end", async () => {
  await task.stop();
  process.exit(0); // baileys leaves timers of up to 30 s behind
});
tell({ url: task.url });
