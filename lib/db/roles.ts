/** The login roles that the migrations create. Each has a secret `database/<name>`. */
export const loginRoles = {
  resident: "municipal_resident",
  tourism: "municipal_tourism",
  gatekeeper: "municipal_gatekeeper",
  messenger: "municipal_messenger",
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
