import { Fault } from "#lib/faults/fault.ts";
import { tooManyMismatches, tooManyMisses } from "#lib/faults/table.ts";
import type { Partner } from "#lib/http/caller.ts";
import { log } from "#lib/log.ts";

/** The caller, for the audit row that the database writes with every read. */
export interface Reader extends Pick<Partner, "partnerId" | "keyId"> {
  readonly requestId: string;
}

/** Why the database refuses a read, by SQLSTATE. */
const refusals: Readonly<Record<string, (detail: string) => Fault>> = {
  MI429: () => new Fault(tooManyMisses),
  MI430: (detail) => new Fault(tooManyMismatches(Number(detail))),
};

/**
 * Explains to the caller why the database refuses a read.
 *
 * @throws Fault, or the given error if it is no refusal.
 */
export const explainRefusal =
  ({ partnerId, keyId, requestId }: Reader) =>
  (error: { cause?: { code?: string; detail?: string } }): never => {
    const { code = "", detail = "" } = error.cause ?? {};
    const fault = refusals[code]?.(detail);
    if (!fault) throw error;
    // an alarm counts these lines
    log.warn("too many misses", { partner_id: partnerId, key_id: keyId, request_id: requestId });
    throw fault;
  };
