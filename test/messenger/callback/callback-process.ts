import postgres from "postgres";
import { runCallbacks } from "#lib/messenger/callback/callbacks.ts";
import type { Schedule } from "#lib/messenger/callback/event.ts";
import { type EncryptionKey, encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { loopback } from "../../steps/loopback.ts";

/** The callbacks of a task in another process, which can be killed; passed as JSON in its only argument. */
export interface Assignment {
  readonly databaseUrl: string;
  readonly encryptionKey: EncryptionKey;
  readonly schedule: Schedule;
}

const { databaseUrl, encryptionKey, schedule }: Assignment = JSON.parse(process.argv[2] ?? "{}");
await runCallbacks({
  sql: postgres(databaseUrl, { max: 4, fetch_types: false }),
  encryption: encryptionWith(encryptionKey),
  connector: loopback,
  schedule,
  signal: new AbortController().signal,
});
