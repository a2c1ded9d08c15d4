/** Each may do what those before it may. */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/** A person who uses the console. */
export interface Operator {
  readonly name: string;
  readonly role: Role;
}

export const isAllowed = ({ role }: Operator, required: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(required);
