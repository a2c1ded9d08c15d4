import type postgres from "postgres";
import { openAuthState } from "#lib/channels/whatsapp/link/auth-state.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { listOptedOut } from "#lib/notification/opt-out.ts";
import { digestToken } from "#lib/opaque-token.ts";
import { readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { startCommand } from "../../steps/command.ts";
import type { Scene } from "../chaos/scene.ts";
import { type As, pepperOf } from "./city.ts";
import type { Found } from "./report.ts";

/** Runs one of the operator's commands on a database of the restored server. */
export const runOnDatabase = async (
  { store, bucket }: Scene,
  database: string,
  noun: string,
  ...args: string[]
): Promise<Found> => {
  const { host, port, username, password } = readLocalSecret("database/maintenance", store);
  const DATABASE_URL = `postgres://${username}:${password}@${host}:${port}/${database}`;
  const settings = { DATABASE_URL, ...bucket.settings };
  const { status, out, errors } = await startCommand(noun, settings, ...args).ended;
  return { seen: out.trim(), wrongs: status === 0 ? [] : errors.trim().split("\n") };
};

/** Verifies all seals, also against their anchors, of which there is one more. @param seals in the backup. */
export const checkAudit = (scene: Scene, seals: number) => {
  const args = ["verify", "--bucket", scene.bucket.name, "--restored", String(seals)];
  return runOnDatabase(scene, "municipal", "audit", ...args);
};

/** Recounts the residents, and looks for triggers that could be bypassed. */
export const checkResidents = (scene: Scene) => runOnDatabase(scene, "municipal", "residents", "verify");

/** @param key a partner's, from before the loss. */
export const checkKey = (as: As, key: string): Promise<Found> =>
  as("partner-admin", async (sql) => {
    const active = await sql`
      select from partner.api_key k where digest = ${digestToken(key)} and partner.is_active(k)`;
    return { seen: "it is active", wrongs: active.length === 1 ? [] : ["the key is unknown or not active"] };
  });

export const checkOptOuts = (scene: Scene, as: As, phones: readonly string[]): Promise<Found> =>
  as("notify", async (sql: postgres.Sql) => {
    const found = await listOptedOut({ sql, pepper: pepperOf(scene) }, [...phones, "628110000000"]);
    const missing = phones.filter((phone) => !found.has(phone));
    return {
      seen: `${found.size} numbers get no reminders`,
      wrongs: missing.length === 0 ? [] : [`${missing.length} opt-outs are not found`],
    };
  });

/** Opens the credentials of the WhatsApp link with the key from its secret. */
export const checkPairing = ({ store }: Scene, as: As): Promise<Found> =>
  as("messenger", async (sql) => {
    const encryption = encryptionWith(readLocalSecret("messenger-key", store));
    const auth = await openAuthState({ sql, encryption });
    return { seen: "a phone is linked", wrongs: auth.isPaired() ? [] : ["no phone is linked"] };
  });
