import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import { type SmsSettings, smsSchema } from "#lib/channels/sms/settings.ts";
import { listenOnLoopback } from "../../infra/local/loopback.ts";

/** An SMS that a gateway has taken. */
interface Sms {
  readonly phone: string;
  readonly text: string;
  readonly at: Date;
}

/** Starts an SMS gateway on loopback that takes all it gets and reports nothing. */
export const startSmsGateway = async () => {
  const taken: Sms[] = [];
  const server = createServer(async (request, response) => {
    const { phone, text: words } = JSON.parse(await text(request)) as Omit<Sms, "at">;
    taken.push({ phone, text: words, at: new Date() });
    response.end("{}");
  });
  const { address, stop } = await listenOnLoopback(server);
  const settings: SmsSettings = z.parse(smsSchema(), {
    channel: "sms",
    url: `http://${address}/send`,
    format: "json",
    from: "KOTA",
    fields: { phone: "{phone}", text: "{text}" },
  });
  return { taken: taken as readonly Sms[], settings, stop };
};
