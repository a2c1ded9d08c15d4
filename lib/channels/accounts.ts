import { cached } from "#lib/cached.ts";
import { getSetting } from "#lib/config.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import type { CloudApiSettings } from "./cloud-api/settings.ts";
import { channelsSchema } from "./settings.ts";

const maxAgeMs = 60_000;

/** The accounts of the secret `messenger-channels`. A change reaches a warm function within a minute. */
export const channelAccounts = cached("the channels' accounts", maxAgeMs, async () => {
  const { accounts } = await readSecret(getSetting("MESSENGER_CHANNELS_SECRET_ID"), channelsSchema());
  return accounts;
});

export type CloudApiAccount = CloudApiSettings & { readonly name: string };

export const listCloudApiAccounts = async (): Promise<CloudApiAccount[]> =>
  Object.entries(await channelAccounts.get()).flatMap(([name, settings]) =>
    settings.channel === "cloud-api" ? [{ ...settings, name }] : [],
  );
