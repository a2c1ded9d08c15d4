import { type ChannelName, channels } from "#lib/messaging/channel.ts";

/** How fast a number may send without being detected as a bot. The platform's own limits are not public. */
export interface Pace {
  /** Between two sends: a random time between these. */
  readonly gapMs: readonly [number, number];
  readonly perRecipientMs: number;
  readonly perMinute: number;
  readonly perHour: number;
  readonly perDay: number;
  /** Numbers that nothing was ever sent to. */
  readonly newContactsPerDay: number;
  /** The daily limit of a new account, by days since its first send. */
  readonly warmUp: readonly number[];
  /** For this time after each connect the gaps are doubled. */
  readonly rampMs: number;
  /** The first and the longest wait after a temporary rejection, or while there is no answer. */
  readonly retryMs: readonly [number, number];
}

export const carefulPace: Pace = {
  gapMs: [3_000, 8_000],
  perRecipientMs: 6_000,
  perMinute: 8,
  perHour: 200,
  perDay: 1_500,
  newContactsPerDay: 200,
  warmUp: [20, 40, 80, 150, 250, 400, 600, 800, 1_000, 1_200],
  rampMs: 60_000,
  retryMs: [10_000, 900_000],
};

/** For tests and measurements against the fake platform. */
export const noPace: Pace = {
  gapMs: [0, 0],
  perRecipientMs: 0,
  perMinute: Number.POSITIVE_INFINITY,
  perHour: Number.POSITIVE_INFINITY,
  perDay: Number.POSITIVE_INFINITY,
  newContactsPerDay: Number.POSITIVE_INFINITY,
  warmUp: [],
  rampMs: 0,
  retryMs: [0, 0],
};

/** A wait that doubles with each failure. @param failures before this one. */
export const growingMs = ([first, longest]: readonly [number, number], failures: number): number =>
  // beyond that 0 would become NaN, which is no time
  Math.min(first * 2 ** Math.min(failures, 30), longest);

/** The pace of an account. Platforms with an agreement say themselves when it is too fast. @param pace that of WhatsApp. */
export const paceOf = (pace: Pace, channel: ChannelName): Pace =>
  channels[channel].isLinked ? pace : { ...noPace, retryMs: pace.retryMs };
