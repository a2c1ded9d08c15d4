import { randomBytes } from "node:crypto";
import * as z from "zod/mini";
import { Credentials } from "#lib/db/credentials.ts";
import { logsIn, newPassword, setPassword, withLogin } from "#lib/db/password.ts";
import { mintTokenKey, TokenKey } from "#lib/employee/token-key.ts";

/** How one kind of secret is rotated. What `fits` takes, the others are given. */
export interface Rotation {
  /** Tells the kind by the shape of the value. */
  fits(value: unknown): boolean;
  /** What changes from one value to the next. */
  next(): object;
  /**
   * Has the other side take the coming value; a second time does no harm.
   *
   * @param known values that it may take now, the likeliest first.
   * @throws Error when it takes none of them.
   */
  install(coming: unknown, known: readonly unknown[]): Promise<void>;
  /** @throws Error when the other side does not take the coming value. */
  prove(coming: unknown): Promise<void>;
}

/** A role of the database sets its own password: no rotation needs the administrator's. */
const login: Rotation = {
  fits: (value) => Credentials.safeParse(value).success,
  next: () => ({ password: newPassword() }),
  async install(value, known) {
    const coming = Credentials.parse(value);
    if (await logsIn(coming)) return;
    for (const one of known) {
      const { data: former } = Credentials.safeParse(one);
      if (!former || !(await logsIn(former))) continue;
      return withLogin(former, (sql) => setPassword(sql, coming.username, coming.password));
    }
    throw new Error("the database takes none of the secret's passwords; the migration sets them anew");
  },
  async prove(coming) {
    if (!(await logsIn(Credentials.parse(coming))))
      throw new Error("the database refuses the coming password");
  },
};

/** Whoever reads such a secret accepts the version before too: there is nobody to be told. */
const readTwice = { install: async () => {}, prove: async () => {} };

const tokenKey: Rotation = {
  fits: (value) => TokenKey.safeParse(value).success,
  next: mintTokenKey,
  ...readTwice,
};

const MessengerToken = z.strictObject({ token: z.string() });

const messengerToken: Rotation = {
  fits: (value) => MessengerToken.safeParse(value).success,
  next: () => ({ token: randomBytes(32).toString("base64url") }),
  ...readTwice,
};

const kinds = [login, tokenKey, messengerToken];

/** How a secret with this value is rotated, or undefined where nobody here knows. */
export const findRotation = (value: unknown): Rotation | undefined => kinds.find((kind) => kind.fits(value));
