import { onTestFinished } from "vitest";
import { guardConnector } from "#lib/channels/address-guard.ts";
import { cloudApiChannel } from "#lib/channels/cloud-api/cloud-api-channel.ts";
import { type CloudApiSettings, cloudApiSchema } from "#lib/channels/cloud-api/settings.ts";
import { RequestLink } from "#lib/channels/request-link.ts";
import { storeMedia } from "#lib/messenger/outbox/media.ts";
import type { Content, Outgoing } from "#lib/messenger/outbox/message.ts";
import { createMessengerDatabase } from "../../fleet/messenger-database.ts";
import { loopback } from "../../steps/loopback.ts";
import { type Platform, phoneNumberId, startPlatform } from "./platform.ts";

export const phone = "6281200000002";

export const settingsOf = ({ url, state }: Pick<Platform, "url" | "state">): CloudApiSettings =>
  cloudApiSchema().parse({
    channel: "cloud-api",
    url,
    phone_number_id: phoneNumberId,
    access_token: state.token,
    app_secret: "invented-app-secret",
    verify_token: "invented-verify-token",
    templates: { language: "id", text: "notice", code: "login_code", image: "picture", file: "letter" },
  });

export const outgoing = (content: Partial<Content>, more: Partial<Outgoing> = {}): Outgoing => ({
  ...{ id: "3EB0INVENTED", lane: "other", sender: "api:test", priority: 1, kind: "text", phone },
  ...{
    content: { view_once: false, is_forwarded: false, ...content },
    mediaId: null,
    epoch: 1,
    attempts: 1,
    failedEarly: 0,
    account: 1,
    number: "6281200000001",
  },
  ...{
    rejections: {},
    isNewContact: false,
    expiresAt: Number.MAX_SAFE_INTEGER,
    quietUntil: null,
    payload: null,
  },
  ...more,
});

/** A one-time code, whose priority is the highest. */
export const code = (text: string) => outgoing({ text }, { priority: 0, lane: "code" });

interface Options {
  readonly timeoutMs?: number;
  readonly change?: (settings: CloudApiSettings) => CloudApiSettings;
  readonly isGuarded?: boolean;
}

/** The channel against the imitation, with a database for media; its link is open. */
export const openChannel = async ({
  timeoutMs = 5_000,
  change = (same) => same,
  isGuarded,
}: Options = {}) => {
  const platform = await startPlatform();
  const { sql } = await createMessengerDatabase();
  const held: number[] = [];
  const link = new RequestLink({
    hold: async (code) => void held.push(code),
    release: async () => {},
  });
  const end = new AbortController();
  let settings: CloudApiSettings | undefined = change(settingsOf(platform));
  const { channel, check } = cloudApiChannel(
    {
      sql,
      findSettings: async () => {
        if (!settings) throw new Error("the secret has another shape than expected");
        return settings;
      },
      link,
      signal: end.signal,
      connector: isGuarded ? guardConnector() : loopback,
    },
    timeoutMs,
  );
  const kinds: string[] = [];
  const states = (kind: string) =>
    new Promise<void>((resolve) => {
      if (link.state().kind === kind) return resolve();
      const off = link.on("state", (state) => {
        if (state.kind !== kind) return;
        off();
        resolve();
      });
    });
  link.on("state", ({ kind }) => void kinds.push(kind));
  onTestFinished(() => link.stop());
  return {
    ...{ platform, sql, link, channel, check, held, states, kinds },
    end: () => end.abort(),
    change: (next: CloudApiSettings | undefined) => {
      settings = next;
    },
    open: async () => {
      link.start(check);
      await states("open");
    },
    /** Composes and sends. */
    deliver: async (message: Outgoing) => channel.send(await channel.compose(message, phone), message),
    store: (contentType: string, bytes: Buffer, fileName?: string) =>
      storeMedia(
        sql,
        "api:test",
        { contentType, fileName },
        (async function* () {
          yield bytes;
        })(),
      ),
  };
};
