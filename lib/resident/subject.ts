import type postgres from "postgres";

/** Who does something for a citizen, and why. The audit stores it. */
export interface Act {
  readonly nik: string;
  /** HMAC of the NIK, with the audit's pepper. */
  readonly nikDigest: Buffer;
  readonly pepperVersion: number;
  readonly operator: string;
  readonly reason: string;
  readonly caseReference: string | null;
  readonly requestId: string;
}

/** What the audit takes as a text of an act: its domain audit.reference. */
export const reference = /^(?!.*\d{15})[ -~]{1,100}$/;
export const referenceRule =
  "must be 1 to 100 letters, digits and signs of ASCII, without the number of a person";

/** What was stored about the NIK before the act. */
export type SubjectState = "stored" | "restricted" | "left" | "erased" | "unknown";

export interface Change {
  /** Column of the table of residents. */
  readonly column: string;
  readonly before: string;
  readonly after: string;
}

interface Outcome {
  readonly state: SubjectState;
  /** Of the resident; it stays the same. Null if unknown. */
  readonly id: number | null;
}

export interface Correction extends Outcome {
  /** Only those that differ. */
  readonly changes: readonly Change[];
}

export interface Removal extends Outcome {
  readonly done: boolean;
}

/** The error of the database while an import runs. */
export const importRunning = "55P03";

/** The error of the database when somebody was erased with a pepper of another version. */
export const otherPepper = "MI450";

const row = (sql: postgres.Sql, act: Act) => sql`
  row(${act.nik}, ${act.nikDigest}, ${act.pepperVersion}, ${act.operator}, ${act.reason}, ${act.caseReference},
    ${act.requestId})::resident.act`;

const outcomeOf = <T>([found]: readonly { outcome: T }[]): T => {
  if (!found) throw new Error("the act returned no row");
  return found.outcome;
};

/** Changes values of a resident, by column, also of a withheld one. */
export const correctSubject = async (
  sql: postgres.Sql,
  act: Act,
  changes: Readonly<Record<string, string>>,
): Promise<Correction> =>
  outcomeOf(
    await sql<{ outcome: Correction }[]>`
      select resident.correct_subject(${row(sql, act)}, ${JSON.stringify(changes)}::text::jsonb) as outcome`,
  );

/** Withholds a resident from every read, or shows them again. */
export const restrictSubject = async (sql: postgres.Sql, act: Act, isLifted: boolean): Promise<Removal> =>
  outcomeOf(
    await sql<{ outcome: Removal }[]>`
      select resident.restrict_subject(${row(sql, act)}, ${isLifted}) as outcome`,
  );

/**
 * Erases a resident, or lets imports add an erased one again.
 *
 * @throws PostgresError {@link importRunning}
 */
export const eraseSubject = async (sql: postgres.Sql, act: Act, isLifted: boolean): Promise<Removal> =>
  outcomeOf(
    await sql<{ outcome: Removal }[]>`
      select resident.erase_subject(${row(sql, act)}, ${isLifted}) as outcome`,
  );

/** A read that showed the resident, among others or alone. */
export interface ReportedRead {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly partner: string;
  readonly route: "list" | "search" | "verify";
  /** As the partner stated them. */
  readonly purpose: string | null;
  readonly case: string | null;
  /** Of a verification: by column, whether the value matched. */
  readonly answers: Readonly<Record<string, boolean>> | null;
  readonly requestId: string;
}

/** What was done for the citizen. */
export interface ReportedAct {
  readonly id: number;
  readonly at: string;
  readonly act: "report" | "correct" | "restrict" | "lift" | "erase" | "readmit";
  readonly by: string;
  readonly reason: string;
  readonly case: string | null;
  readonly requestId: string;
}

interface ReportedMessage {
  readonly id: string;
  readonly acceptedAt: string;
  readonly sentAt: string | null;
  readonly state: string;
  readonly kind: string;
  readonly sender: string;
  /** The notification job or bulk run. */
  readonly job: string | null;
}

export interface Report extends Outcome {
  /** Since when the resident is restricted, is not in the register or is erased. */
  readonly since: string | null;
  /** By column, in clear; null for one who was erased or is unknown. */
  readonly resident: Readonly<Record<string, string>> | null;
  /** Those that hold against imports. */
  readonly corrections: readonly (Change & { readonly at: string })[];
  /** Newest first. */
  readonly reads: readonly ReportedRead[];
  readonly acts: readonly ReportedAct[];
  /** Whether there are older reads or acts. */
  readonly hasMore: boolean;
  /** Of the phone number that was asked for. */
  readonly number: {
    readonly messages: readonly ReportedMessage[];
    /** Since when a number of the city has written to it; for 24 months after the last message. */
    readonly knownSince: string | null;
    readonly optedOutSince: string | null;
  } | null;
}

/** Reports to the citizens' portal. @param most reads and acts, up to 10,000. */
export const reportForPortal = async (
  sql: postgres.Sql,
  act: Omit<Act, "operator">,
  most: number,
): Promise<Report> =>
  outcomeOf(
    await sql<{ outcome: Report }[]>`
      select resident.report_to_portal(${row(sql, { ...act, operator: "" })}, ${most}) as outcome`,
  );

/** @param most reads and acts. @param phone a number with its HMAC, by the pepper of opt-outs. */
export const reportSubject = async (
  sql: postgres.Sql,
  act: Act,
  { most, phone }: { most: number; phone?: { readonly number: string; readonly digest: Buffer } | undefined },
): Promise<Report> =>
  outcomeOf(
    await sql<{ outcome: Report }[]>`
      select resident.report_subject(${row(sql, act)}, ${most}, ${phone?.number ?? null}, ${phone?.digest ?? null})
        as outcome`,
  );
