/** Each may do what those before it may. */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/** A person who uses the console. */
export interface Operator {
  /** The username, or the issuer and the `sub` of an account there: neither can be chosen by its person. */
  readonly id: string;
  /** For display only: an account at an issuer may have chosen it. */
  readonly name: string;
  readonly role: Role;
  /** Of the password with which the console has checked the login. */
  readonly hash?: string | undefined;
}

export const isAllowed = ({ role }: Operator, required: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(required);
