import { withDatabase } from "#lib/db/database.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { spentToken, unconfirmed } from "#lib/errors/table.ts";
import { log } from "#lib/log.ts";
import { digestToken } from "#lib/opaque-token.ts";
import type { LoginToken } from "#lib/routes/employee.ts";
import { issueAccessToken, lifetimeSeconds } from "./access-token.ts";
import { checkAccount, type LegacyAccount } from "./legacy-auth.ts";
import {
  type Client,
  digestClient,
  mintRefreshToken,
  openSuccessor,
  sealSuccessor,
} from "./refresh-token.ts";

interface Spent {
  outcome: "rotated" | "replayed" | "reused" | "due" | "unconfirmed" | "refused";
  sessionId: string;
  accountId: string;
  scope: string;
  sealedSuccessor: Uint8Array;
}

const answer = async (accountId: string, scope: string, refreshToken: string): Promise<LoginToken> => ({
  token: await issueAccessToken({ accountId, scope }),
  expires_in: lifetimeSeconds,
  refresh_token: refreshToken,
  scope,
});

/** @param name digest of the username of the login. */
export const startSession = async (
  { id, scopes }: LegacyAccount,
  name: Buffer | null,
): Promise<LoginToken> => {
  const scope = scopes.join(" ");
  const refreshToken = mintRefreshToken();
  await withDatabase(
    (sql) => sql`select employee.start_session(${id}, ${name}, ${scope}, ${digestToken(refreshToken)})`,
  );
  return answer(id, scope, refreshToken);
};

/**
 * Asks the legacy system whether the account of a session is still open. Without an answer the session continues, until a
 * day has passed since the last one.
 */
const checkSession = async (sessionId: string, accountId: string): Promise<void> => {
  const found = await checkAccount(accountId).catch((cause: unknown) => {
    // wrapped: as no request fails, the metric of failures of the legacy system must not count it
    const error = new Error("the account check failed", { cause });
    log.warn("the legacy system did not confirm an account", { session_id: sessionId, error });
  });
  if (!found) return;
  await withDatabase((sql) => {
    if (found === "closed") return sql`select employee.close_account(${accountId})`;
    if (found === "unsupported") return sql`select employee.limit_session(${sessionId})`;
    return sql`select employee.confirm_session(${sessionId}, ${found.scopes.join(" ")})`;
  });
  if (found === "closed") log.warn("an account is closed; its sessions are ended", { session_id: sessionId });
};

/**
 * Continues a session: exchanges a refresh token for the next pair. A token that was used within the last 30 s gets the
 * same successor again, from another client only while that is unused; any other reuse revokes the session.
 *
 * @throws ApiError 400 `invalid_grant`; 503 when the legacy system has not confirmed the account for a day.
 */
export const continueSession = async (presented: string, client: Client): Promise<LoginToken> => {
  const successor = mintRefreshToken();
  const sealed = sealSuccessor(presented, successor);
  const spend = () =>
    withDatabase(
      (sql) => sql<Spent[]>`
        select outcome, session_id as "sessionId", account_id as "accountId", scope,
          sealed_successor as "sealedSuccessor"
        from employee.spend_token(${digestToken(presented)}, ${digestToken(successor)}, ${sealed},
          ${digestClient(presented, client)})`,
    );
  let [spent] = await spend();
  if (spent?.outcome === "due") {
    await checkSession(spent.sessionId, spent.accountId);
    [spent] = await spend();
  }
  if (spent?.outcome === "reused")
    log.warn("a refresh token was reused; its session is revoked", { session_id: spent.sessionId });
  if (spent?.outcome === "unconfirmed")
    throw new ApiError(unconfirmed, {
      cause: new Error("LEGACY_AUTH_URL has not confirmed the account for a day"),
    });
  if (spent?.outcome !== "rotated" && spent?.outcome !== "replayed") throw new ApiError(spentToken);
  return answer(spent.accountId, spent.scope, openSuccessor(presented, spent.sealedSuccessor));
};
