import type postgres from "postgres";
import * as z from "zod/mini";

/** The login roles that the migrations create. Each has a secret `database/<name>`. */
export const loginRoles = {
  resident: "municipal_resident",
  tourism: "municipal_tourism",
  gatekeeper: "municipal_gatekeeper",
  messenger: "municipal_messenger",
  console: "municipal_console",
  employee: "municipal_employee",
  "employee-ticket": "municipal_employee_ticket",
  "employee-admin": "municipal_employee_admin",
  importer: "municipal_importer",
  "partner-admin": "municipal_partner_admin",
  "sender-admin": "municipal_sender_admin",
  subject: "municipal_subject",
  "citizen-portal": "municipal_citizen_portal",
  maintenance: "municipal_maintenance",
  notify: "municipal_notify",
} as const;

export type LoginRole = keyof typeof loginRoles;

const names = Object.keys(loginRoles) as [LoginRole, ...LoginRole[]];

/** Most connections of each login role. A role without a number may take all that the server has. */
export const ConnectionLimits = z.partialRecord(z.enum(names), z.int().check(z.gte(1)));
export type ConnectionLimits = z.infer<typeof ConnectionLimits>;

/** Sets the limits. Connections that a role already has remain. @param sql connection of a role that may alter these. */
export const limitConnections = async (sql: postgres.Sql, limits: ConnectionLimits): Promise<void> => {
  for (const name of names)
    await sql.unsafe(`alter role ${loginRoles[name]} connection limit ${limits[name] ?? -1}`);
};
