/** Seconds after which WhatsApp lets a message disappear: never, 24 hours, 7 days, 90 days (whatsapp-rust #450). */
const durations = [0, 86_400, 604_800, 7_776_000] as const;

/** Returns the next longer duration that phones know, or the longest: with another one a phone may show a message for ever. */
export const toKnownDuration = (seconds: number): number =>
  durations.find((known) => known >= seconds) ?? durations[3];
