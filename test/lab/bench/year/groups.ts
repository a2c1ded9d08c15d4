import type postgres from "postgres";
import type { LoginRole } from "#lib/db/roles.ts";
import type { SecretName } from "#lib/secrets/table/table.ts";
import { authorizerCases } from "./authorizer-cases.ts";
import { employeeCases } from "./employee-cases.ts";
import { maintenanceCases } from "./maintenance-cases.ts";
import type { Case, Effort, Row } from "./measure.ts";
import { messengerCases } from "./messenger-cases.ts";
import { notificationCases } from "./notification-cases.ts";
import { residentCases } from "./resident-cases.ts";
import type { Parts, Sizes } from "./sizes.ts";
import { portalCases, subjectCases } from "./subject-cases.ts";
import { tourismCases } from "./tourism-cases.ts";

/** What cases work with. */
export interface Ground {
  /** Of the superuser: to prepare what is measured. */
  readonly owner: postgres.Sql;
  /** Of the group's role, as a process that stays connected opens it. */
  readonly sql: postgres.Sql;
  /** Of the console's role, as the messenger opens it. */
  readonly consoleSql: postgres.Sql;
  readonly sizes: Sizes;
  readonly parts: Parts;
}

/** A case, or a measurement of its own kind. */
export type Measurable = Case | ((effort: Effort) => Promise<Row | readonly Row[]>);

/** Statements of one role. */
export interface Group {
  readonly role: LoginRole;
  readonly pepper: SecretName;
  /** Lists what is measured, one after the other: between two, it may change the data. */
  readonly open: (ground: Ground) => AsyncIterable<Measurable>;
}

const audit = { pepper: "audit-pepper" } as const;
const attempts = { pepper: "attempt-pepper" } as const;
const optOuts = { pepper: "opt-out-pepper" } as const;

/** In the order in which they are measured: the messenger's add messages, and maintenance deletes. */
export const groups: Readonly<Record<string, Group>> = {
  residents: { role: "resident", ...audit, open: residentCases },
  portal: { role: "citizen-portal", ...audit, open: portalCases },
  subjects: { role: "subject", ...audit, open: subjectCases },
  tourism: { role: "tourism", ...audit, open: tourismCases },
  authorizers: { role: "gatekeeper", ...audit, open: authorizerCases },
  employees: { role: "employee", ...attempts, open: employeeCases },
  notifications: { role: "notify", ...optOuts, open: notificationCases },
  messenger: { role: "messenger", ...optOuts, open: messengerCases },
  maintenance: { role: "maintenance", ...audit, open: maintenanceCases },
};
