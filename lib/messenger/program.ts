import { setTimeout } from "node:timers/promises";
import { fromHttp } from "@aws-sdk/credential-provider-http";
import { cached } from "#lib/cached.ts";
import { channelAccounts } from "#lib/channels/accounts.ts";
import { guardConnector, publicOrLoopback } from "#lib/channels/address-guard.ts";
import { errorCode, errorName } from "#lib/channels/channel.ts";
import type { WhatsAppSettings } from "#lib/channels/whatsapp/settings.ts";
import { findSetting, getSetting } from "#lib/config.ts";
import type { IssuerSettings } from "#lib/console/login/issuer.ts";
import { connect } from "#lib/db/pool.ts";
import { log } from "#lib/log.ts";
import { encryptionWith } from "#lib/messenger/outbox/encryption.ts";
import { jobs } from "#lib/notification/jobs.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { consoleSchema, messengerKeySchema, messengerTokenSchema } from "#lib/secrets/schemas.ts";
import { readBothStages, readSecret } from "#lib/secrets/secret.ts";
import { takeCredentialsFrom } from "#lib/secrets/secrets-manager.ts";
import type { ChannelOptions } from "./open-channel.ts";
import { carefulPace, noPace } from "./send/pace.ts";
import { startTask } from "./task.ts";

/** A secret removed from Secrets Manager is rejected after this time. */
const maxAgeMs = 60_000;
/** An unknown token may be a new one; this rate-limits the requests to Secrets Manager that it causes. */
const minRefreshMs = 1_000;

/** Longer than the 30 s after which the server cancels a statement of the messenger. */
const databaseSilenceMs = 35_000;

const readTokens = async (): Promise<readonly string[]> => {
  const both = await readBothStages(getSetting("MESSENGER_TOKEN_SECRET_ID"), messengerTokenSchema());
  return both.map(({ token }) => token);
};

const tokens = cached("the messenger's tokens", maxAgeMs, readTokens);
const operators = cached("the console's operators", maxAgeMs, () =>
  readSecret(getSetting("CONSOLE_SECRET_ID"), consoleSchema()),
);

const findSettings: ChannelOptions["findSettings"] = async (account, channel) => {
  const settings = (await channelAccounts.get())[account];
  if (settings?.channel === channel) return settings as never;
  throw new Error(`the secret of the channels has no settings of ${channel} for the account ${account}`);
};

const findTokens = (refresh: boolean) =>
  refresh && tokens.ageMs() > minRefreshMs ? tokens.refresh() : tokens.get();

const readWhatsAppSettings = (): WhatsAppSettings => {
  const url = findSetting("PLATFORM_URL");
  const rootKey = findSetting("PLATFORM_ROOT_KEY");
  const mediaCa = findSetting("PLATFORM_MEDIA_CA");
  return {
    ...(url && { url }),
    ...(rootKey && { rootKey: Buffer.from(rootKey, "base64") }),
    ...(mediaCa && { mediaCa }),
    webVersion: findSetting("PLATFORM_WEB_VERSION"),
    versionUrl: findSetting("PLATFORM_VERSION_URL"),
    pairsByItself: findSetting("PLATFORM_PAIRING") === "automatic",
  };
};

/** @returns undefined where the console checks passwords itself. */
const findIssuer = (): IssuerSettings | undefined => {
  const url = findSetting("CONSOLE_ISSUER_URL");
  if (!url) return undefined;
  return {
    url,
    clientId: getSetting("CONSOLE_CLIENT_ID"),
    // at the first login: the messenger starts without it
    findClientSecret: async () => (await operators.get()).clientSecret,
    groupsClaim: findSetting("CONSOLE_GROUPS_CLAIM"),
  };
};

/** Logs only name and code of an uncaught error: it may contain keys or phone numbers. */
const crash = (error: unknown): never => {
  const known = error instanceof Error ? { name: errorName(error), code: errorCode(error) } : {};
  log.error("uncaught error; exiting", known);
  process.exit(1);
};

/** Runs the messenger until SIGTERM or SIGINT. */
export const runMessenger = async (): Promise<void> => {
  process.on("uncaughtException", crash).on("unhandledRejection", crash);
  if (!findSetting("AWS_ACCESS_KEY_ID")) takeCredentialsFrom(fromHttp());
  const encryption = encryptionWith(
    await readSecret(getSetting("MESSENGER_KEY_SECRET_ID"), messengerKeySchema()),
  );
  // now, as the key: without it, reminders would fail
  await digestTerm();
  const host = getSetting("MESSENGER_HOST");
  const task = await startTask({
    connect: (max, onClose) => connect(max, onClose, databaseSilenceMs),
    connectConsole: (max) => connect(max, undefined, databaseSilenceMs, "console"),
    encryption,
    platform: readWhatsAppSettings(),
    findSettings,
    pace: findSetting("MESSENGER_PACE") === "off" ? noPace : carefulPace,
    maxWaiting: Number(findSetting("MESSENGER_MAX_WAITING")),
    findTokens,
    findUsers: async () => (await operators.get()).users,
    issuer: findIssuer(),
    findPepper: digestTerm,
    jobs: jobs.map(({ name }) => name),
    host,
    // a messenger that only its own machine can reach is that of `npm run dev`: a backend under test is there, too
    callbackConnector: host === "127.0.0.1" ? guardConnector({ policy: publicOrLoopback }) : undefined,
    port: Number(findSetting("MESSENGER_PORT")),
  });
  log.info("listening", { url: task.url });
  const stop = async () => {
    log.info("stopping");
    await task.stop(setTimeout(Number(findSetting("MESSENGER_LINGER_SECONDS")) * 1_000));
    // baileys leaves timers behind
    process.exit(0);
  };
  process.once("SIGTERM", stop).once("SIGINT", stop);
};
