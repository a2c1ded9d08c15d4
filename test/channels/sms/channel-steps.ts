import { onTestFinished } from "vitest";
import { guardConnector } from "#lib/channels/address-guard.ts";
import { RequestLink } from "#lib/channels/request-link.ts";
import type { SmsSettings } from "#lib/channels/sms/settings.ts";
import { smsChannel } from "#lib/channels/sms/sms-channel.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { unusedDatabase } from "./unused-database.ts";

/** A message with only what the channel reads. */
export const message = (content: string | undefined, more: Partial<Outgoing> = {}): Outgoing =>
  ({
    id: `3EB0${"0".repeat(15)}A`,
    phone: "6281234567890",
    kind: "text",
    content: { text: content },
    ...more,
  }) as Outgoing;

/** Only what is on this machine. */
export const loopback = guardConnector({ policy: () => undefined });

/** A channel and its link, until the test ends. */
export const openChannel = (
  findSettings: () => Promise<SmsSettings>,
  { timeoutMs, connector = loopback }: { timeoutMs?: number; connector?: typeof loopback | undefined } = {},
) => {
  const held: number[] = [];
  const ending = new AbortController();
  const link = new RequestLink({
    hold: async (code) => void held.push(code),
    release: async () => {},
  });
  const states: string[] = [];
  link.on("state", ({ kind }) => void states.push(kind));
  const { channel, check } = smsChannel({
    sql: unusedDatabase,
    findSettings,
    link,
    signal: ending.signal,
    connector,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  onTestFinished(() => link.stop());
  const until = (kind: string): Promise<void> =>
    new Promise((resolve) => {
      if (link.state().kind === kind) return resolve();
      const stop = link.on("state", (state) => {
        if (state.kind !== kind) return;
        stop();
        resolve();
      });
    });
  return {
    channel,
    check: () => check(ending.signal),
    link,
    held,
    /** That the link has had since the channel was opened. */
    states,
    until,
    end: () => ending.abort(),
    async open() {
      link.start(check);
      await until("open");
      return this;
    },
    /** Composes and sends, as the sender does. */
    async deliver(one: Outgoing) {
      return channel.send(await channel.compose(one, one.phone), one);
    },
  };
};
