import { ApiError } from "#lib/errors/api-error.ts";
import { messengerAway, noReportToken } from "#lib/errors/table.ts";
import { log } from "#lib/log.ts";
import type { ChannelEvents, Reply, Report } from "#lib/messaging/channel-events.ts";
import { passOn } from "#lib/messaging/messenger-client.ts";
import { isPhone, readLocalNumber } from "#lib/messaging/phone.ts";
import { isSameText } from "#lib/opaque-token.ts";
import { channelAccounts } from "../accounts.ts";
import { findCode, findId, findPlace, findText, lookUp, readFields } from "./fields.ts";
import type { SmsSettings } from "./settings.ts";

/** As many as `ChannelEvents` takes. */
const maxEvents = 1_000;
const maxIdLength = 128;
const maxReferenceLength = 255;
const maxTextLength = 65_536;

type Reports = NonNullable<SmsSettings["reports"]>;

/** A request of a gateway. */
interface GatewayReport {
  readonly account: string;
  readonly authorization?: string | undefined;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: Buffer;
}

/** The token: a bearer token, the password of Basic credentials, or the query's `token`. */
const tokenOf = ({ authorization = "", query }: GatewayReport): string => {
  const [, scheme = "", sent = ""] = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return sent;
  if (scheme)
    return Buffer.from(sent, "base64")
      .toString()
      .replace(/^[^:]*:?/, "");
  return findText(query, "token") ?? "";
};

/** @throws ApiError 401, the same for an account that does not exist or gets no reports. */
const getReports = async (request: GatewayReport): Promise<Reports> => {
  const settings = lookUp(await channelAccounts.get(), request.account);
  const reports = settings?.channel === "sms" ? settings.reports : undefined;
  if (!isSameText(tokenOf(request), reports?.token ?? "") || !reports) throw new ApiError(noReportToken);
  return reports;
};

/** @returns undefined for a state that the settings do not name, and for a report without any id. */
const findReport = (fields: unknown, settings: Reports): Report | undefined => {
  const state = lookUp(settings.states, findText(fields, settings.state));
  const id = findId(fields, settings.id, maxIdLength);
  const reference = findId(fields, settings.reference, maxReferenceLength);
  if (state === undefined || (id === undefined && reference === undefined)) return undefined;
  const code = state === "FAILED" ? findCode(fields, settings.code) : undefined;
  return { id, reference, state, code };
};

/** @returns undefined for anything that has a state, or no text of a phone. */
const findReply = (fields: unknown, { state, replies }: Reports): Reply | undefined => {
  if (!replies || findText(fields, state) !== undefined) return undefined;
  const phone = readLocalNumber(findText(fields, replies.phone) ?? "");
  const text = findText(fields, replies.text)?.slice(0, maxTextLength);
  if (!isPhone(phone) || text === undefined) return undefined;
  return { phone, text, sent_at: new Date().toISOString() };
};

/** The fields of each report; those of the query, which gateways add to the URL of one message, belong to all. */
const listFields = ({ query, body: bytes }: GatewayReport, { list }: Reports): unknown[] => {
  const body = readFields(bytes?.toString() ?? "{}");
  const found = Array.isArray(body) ? body : list === undefined ? undefined : findPlace(body, list);
  return (Array.isArray(found) ? found : [body]).map((fields: unknown) => ({ ...query, ...Object(fields) }));
};

const isGiven = <T>(value: T | undefined): value is T => value !== undefined;

/**
 * Passes on what a gateway reports; it may repeat it.
 *
 * @throws ApiError 401, or 503 when the messenger has not taken it: then the gateway must repeat it.
 */
export const takeReports = async (request: GatewayReport, requestId: string): Promise<void> => {
  const settings = await getReports(request);
  const all = listFields(request, settings);
  const reports = all.map((fields) => findReport(fields, settings)).filter(isGiven);
  const replies = all.map((fields) => findReply(fields, settings)).filter(isGiven);
  for (let start = 0; start < Math.max(reports.length, replies.length); start += maxEvents) {
    const end = start + maxEvents;
    const { account } = request;
    const events: ChannelEvents = {
      account,
      reports: reports.slice(start, end),
      replies: replies.slice(start, end),
    };
    await passOn(events, requestId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      log.warn("reports of an SMS gateway were not taken", {
        request_id: requestId,
        account,
        reason: error.code,
      });
      // any other status would be one of the gateway's own request, which many gateways do not repeat
      throw new ApiError(messengerAway);
    });
  }
};
