import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { type Page, startPhpServer } from "./php-server.ts";

/** An account of the legacy system, which logs in by user name or by NIP. */
export interface LegacyAccount {
  readonly id: string;
  readonly loginBy: "username" | "nip";
  readonly username: string;
  readonly nip: string;
  readonly password: string;
  readonly access: readonly string[];
}

const hash = (password: string, salt: Buffer) => scryptSync(password, salt, 32, { N: 4_096 });

/**
 * Starts the legacy authentication system that `lib/employee/legacy-auth.ts` describes. Names are compared as in
 * MySQL: case and trailing spaces are ignored.
 *
 * `PUT /closed` with the IDs of accounts, as in `id=1&id=2`, closes these and opens all others. The real system has no
 * such page.
 */
export const startLegacyAuth = (accounts: readonly LegacyAccount[]) => {
  const byName = new Map(
    accounts.map(({ password, ...account }) => {
      const salt = randomBytes(16);
      return [account[account.loginBy].toLowerCase(), { ...account, salt, digest: hash(password, salt) }];
    }),
  );
  let closed: readonly string[] = [];

  const answerOf = ({ id, access, username }: Pick<LegacyAccount, "id" | "access" | "username">): Page => ({
    json: { status: "success", user: { id, access, username, last_login: "0000-00-00" } },
  });

  return startPhpServer((method, { pathname, searchParams }, form) => {
    if (method === "PUT" && pathname === "/closed") {
      closed = form.getAll("id");
      return { json: { closed } };
    }
    if (pathname !== "/auth/login.php") return undefined;
    if (method === "GET") {
      const asked = accounts.find(({ id }) => id === searchParams.get("account"));
      return asked && !closed.includes(asked.id) ? answerOf(asked) : { json: { status: "closed" } };
    }
    const account = byName.get((form.get("username") ?? "").trimEnd().toLowerCase());
    // an unknown account is rejected faster, as in many real systems; the API must hide that
    const authenticated =
      account && timingSafeEqual(hash(form.get("password") ?? "", account.salt), account.digest);
    if (!authenticated || closed.includes(account.id))
      return { json: { status: "failed", message: "Username atau password salah" } };
    return answerOf(account);
  });
};
