import { steadyNow } from "#lib/deadline.ts";
import type { Outgoing } from "#lib/messenger/outbox/message.ts";
import { ChannelFailure, type SendOutcome, Unsendable } from "../channel.ts";
import { type ChannelRequest, type ExchangeOptions, exchange } from "../exchange.ts";
import { AccountRejected, type RequestChannel, type RequestChannelOptions } from "../request-link.ts";
import { judge } from "./codes.ts";
import { countParts, withGsmMarks } from "./parts.ts";
import { requestOf } from "./request.ts";
import type { SmsSettings } from "./settings.ts";

/** After that a message tries whether the gateway accepts the same settings again: it was perhaps corrected there. */
const retryMs = 10 * 60_000;

/** The text in the form in which a phone shows it with the fewest characters. @throws Unsendable without one. */
const textOf = ({ kind, content }: Outgoing): string => {
  const text = (content.text ?? "").replace(/\r\n?/g, "\n").normalize("NFC");
  if (text.trim() !== "") return text;
  const what = {
    text: "an empty text",
    image: "a picture without a caption",
    file: "a file without a caption",
  };
  throw new Unsendable(`${what[kind]} cannot be sent as SMS`);
};

/** @throws Unsendable for a text of more parts than the account sends. */
const composeText = (message: Outgoing, { max_parts }: SmsSettings): Uint8Array => {
  const text = withGsmMarks(textOf(message));
  const { parts, alphabet } = countParts(text);
  if (parts <= max_parts) return Buffer.from(text);
  const why = alphabet === "ucs2" ? ", because it has characters beyond the GSM alphabet" : "";
  throw new Unsendable(`the text needs ${parts} SMS${why}; at most ${max_parts} are sent`);
};

/**
 * Makes the channel of an account at an SMS gateway. A message is handed over once: a gateway knows no copies, so after
 * anything but its answer only a report tells what became of it.
 *
 * A payload is the text alone. The request around it is made at each attempt, from the settings of that moment: after a
 * rejected key was replaced, no stored payload has the old one.
 */
export const smsChannel = ({
  findSettings,
  link,
  signal,
  connector,
  timeoutMs,
}: RequestChannelOptions<SmsSettings> & Pick<ExchangeOptions, "timeoutMs">): RequestChannel => {
  /** The settings that the gateway has rejected, and its status. */
  let rejected: { readonly settings: string; readonly status: number; readonly at: number } | undefined;

  /** After an unclear outcome too: each further message would have one. */
  const doubt = (error: unknown): never => {
    link.doubt();
    throw error;
  };
  const fail = (cause: unknown): never => doubt(new ChannelFailure("not-connected", false, cause));

  const prepare = async (
    payload: Uint8Array,
    message: Outgoing,
  ): Promise<{ settings: SmsSettings; request: ChannelRequest }> => {
    const settings = await findSettings();
    return { settings, request: requestOf(settings, message, Buffer.from(payload).toString()) };
  };

  const send = async (payload: Uint8Array, message: Outgoing): Promise<SendOutcome> => {
    const { settings, request } = await prepare(payload, message).catch(fail);
    const verdict = await exchange(request, { connector, timeoutMs, signal, isUnique: true })
      .then((answer) => judge(settings, answer))
      .catch(doubt);
    if (verdict.outcome !== "account-rejected") {
      link.confirm();
      return verdict;
    }
    rejected = { settings: JSON.stringify(settings), status: verdict.status, at: steadyNow() };
    return fail(new AccountRejected(verdict.status));
  };

  return {
    check: async () => {
      const settings = await findSettings();
      const isRecent = rejected !== undefined && steadyNow() - rejected.at < retryMs;
      if (isRecent && rejected?.settings === JSON.stringify(settings))
        throw new AccountRejected(rejected.status);
      rejected = undefined;
      return settings.from;
    },
    channel: {
      name: "sms",
      canRepeat: false,
      isOpen: () => link.state().kind === "open",
      compose: async (message) => composeText(message, await findSettings().catch(fail)),
      send,
    },
  };
};
