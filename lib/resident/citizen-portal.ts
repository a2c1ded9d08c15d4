import * as z from "zod/mini";
import { withDatabase } from "#lib/db/database.ts";
import { log } from "#lib/log.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import { type Report, reference, referenceRule, reportForPortal } from "./subject.ts";

const nikError = "nik must be a string of 16 digits";
const caseError = `case ${referenceRule}`;
const mostError = "most must be a whole number from 1 to 10000";

const PortalRequest = z.strictObject(
  {
    nik: z.string({ error: nikError }).check(z.regex(/^\d{16}$/, { error: nikError })),
    case: z.optional(z.string({ error: caseError }).check(z.regex(reference, { error: caseError }))),
    most: z._default(
      z
        .int({ error: mostError })
        .check(z.minimum(1, { error: mostError }), z.maximum(10_000, { error: mostError })),
      1_000,
    ),
  },
  { error: 'send {"nik": "16 digits"}, and as you need them case and most' },
);

export interface PortalReport extends Report {
  /** Of the audit row of this report. */
  readonly requestId: string;
}

/**
 * Reports what is stored about a citizen, and who read it, to the citizens' portal.
 *
 * @param event `nik` of the citizen whom the portal has identified, optionally `case` for the audit and `most` reads and acts.
 * @returns the report, or what is wrong with the event.
 */
export const reportToPortal = async (
  event: unknown,
  requestId: string,
): Promise<PortalReport | { readonly error: string }> => {
  const parsed = PortalRequest.safeParse(event);
  if (!parsed.success) return { error: parsed.error.issues.map(({ message }) => message).join("; ") };
  const { nik, case: caseReference = null, most } = parsed.data;
  const { version, digest } = await digestTerm();
  const reason = "request in the portal";
  const act = { nik, nikDigest: digest(nik), pepperVersion: version, reason, caseReference, requestId };
  const report = await withDatabase((sql) => reportForPortal(sql, act, most)).catch((error: unknown) => {
    // the runtime logs no cause
    log.error("report to the portal failed", { request_id: requestId, error });
    throw error;
  });
  return { ...report, requestId };
};
