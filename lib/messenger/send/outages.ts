import { ChannelFailure } from "#lib/channels/channel.ts";
import { growingMs } from "./pace.ts";

/** What of the platform many messages need before they can be sent: its answers for numbers and devices; its media servers. */
export type Service = "directory" | "media";

/** An outage is noticed by one message; a longer wait would delay all others after its end. */
const maxWaitMs = 120_000;

interface Outage {
  readonly since: number;
  readonly failures: number;
  readonly until: number;
}

/** The service that has failed, if it did, rather than what was asked of it. */
export const failedService = (error: unknown): Service | undefined => {
  if (!(error instanceof ChannelFailure)) return undefined;
  if (error.reason === "directory-failed") return "directory";
  return error.reason === "upload-failed" ? "media" : undefined;
};

/** The services that have failed; the messages that need one share its growing waits. Times are those of the steady clock. */
export class Outages {
  readonly #waitMs: readonly [number, number];
  readonly #byService = new Map<Service, Outage>();

  constructor([firstMs, longestMs]: readonly [number, number]) {
    this.#waitMs = [firstMs, Math.min(longestMs, maxWaitMs)];
  }

  /** @returns when the service may be tried again. */
  record(service: Service, now: number): number {
    const { since = now, failures = 0, until: before = 0 } = this.#byService.get(service) ?? {};
    // two messages that tried at once have noticed the same failure
    if (now < before) return before;
    const until = now + growingMs(this.#waitMs, failures);
    this.#byService.set(service, { since, failures: failures + 1, until });
    return until;
  }

  end(service: Service): void {
    this.#byService.delete(service);
  }

  /** @returns when a service that has failed may be tried again, or a time in the past. */
  until(service: Service): number {
    return this.#byService.get(service)?.until ?? 0;
  }

  /** Describes the outages for the console; not those that no message has noticed again: they may have ended. */
  list(now: number) {
    const current = [...this.#byService].filter(([, { until }]) => now < until + maxWaitMs);
    return current.map(([service, { since, until }]) => ({
      service,
      seconds: Math.max(0, until - now) / 1_000,
      ageSeconds: (now - since) / 1_000,
    }));
  }
}
