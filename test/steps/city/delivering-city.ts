import { normalizeMessageContent } from "baileys";
import { beforeAll, expect } from "vitest";
import type { FailureModes } from "../../../infra/local/whatsapp/behaviour.ts";
import type { Received } from "../../../infra/local/whatsapp/phone.ts";
import type { Platform } from "../../../infra/local/whatsapp/platform.ts";
import { messagingClient } from "../messaging.ts";
import { type OwnCity, useOwnCity } from "./own-city.ts";

interface DeliveringCity {
  readonly own: OwnCity;
  readonly platform: Platform;
  readonly client: ReturnType<typeof messagingClient>;
  /** @returns a message once the phone has it. A phone is created for an unknown number. */
  arrived(number: string, id: string): Promise<Received>;
  /** Resolves once the API says that the message is in this state. */
  becomes(id: string, status: string): Promise<void>;
}

const timeoutMs = 90_000;

/** A city for one test file with a messenger process, and the fake platform in this process. */
export const useDeliveringCity = (misbehaviour: FailureModes = {}): DeliveringCity => {
  const own = useOwnCity(() => ({ messenger: "fake" }));
  let platform: Platform;
  let client: DeliveringCity["client"];
  beforeAll(async () => {
    if (!own.city.messenger?.platform) throw new Error("the city has no platform of its own");
    platform = own.city.messenger.platform;
    client = messagingClient(own.city.messagingBaseUrl, own.city.basic);
    platform.behave(misbehaviour);
    await platform.until(() => platform.sockets.loggedIn > 0, timeoutMs);
  });
  return {
    own,
    get platform() {
      return platform;
    },
    get client() {
      return client;
    },
    async arrived(number, id) {
      const find = () => platform.phones.find((phone) => phone.number === number)?.find(id);
      await platform.until(() => find() !== undefined, timeoutMs);
      return find() ?? expect.fail("the message is gone");
    },
    async becomes(id, status) {
      const read = async () => (await client.read(id)).json.data.status;
      await expect.poll(read, { timeout: timeoutMs }).toBe(status);
    },
  };
};

/** A message without its wrappers: its content and its context. */
export const shownOf = ({ message, type }: Received) => {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  const content: any = normalizeMessageContent(message);
  return { ...content?.[type], context: content?.[type]?.contextInfo ?? {} };
};
