import { withDatabase } from "#lib/db/database.ts";
import { Fault } from "#lib/faults/fault.ts";
import { spentToken } from "#lib/faults/table.ts";
import { log } from "#lib/log.ts";
import { digestToken } from "#lib/opaque-token.ts";
import type { LoginToken } from "#lib/routes/employee.ts";
import { issueAccessToken, lifetimeSeconds } from "./access-token.ts";
import type { LegacyAccount } from "./legacy-auth.ts";
import { mintRefreshToken, openSuccessor, sealSuccessor } from "./refresh-token.ts";

interface Spent {
  outcome: "rotated" | "replayed" | "reused" | "refused";
  sessionId: string | null;
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

export const startSession = async ({ id, scopes }: LegacyAccount): Promise<LoginToken> => {
  const scope = scopes.join(" ");
  const refreshToken = mintRefreshToken();
  await withDatabase(
    (sql) => sql`select employee.start_session(${id}, ${scope}, ${digestToken(refreshToken)})`,
  );
  return answer(id, scope, refreshToken);
};

/**
 * Continues a session: exchanges a refresh token for the next pair. A token used within the last 30 s gets the same
 * successor again; reuse after that revokes the session.
 *
 * @throws Fault 400 `invalid_grant`
 */
export const continueSession = async (presented: string): Promise<LoginToken> => {
  const successor = mintRefreshToken();
  const sealed = sealSuccessor(presented, successor);
  const [spent] = await withDatabase(
    (sql) => sql<Spent[]>`
      select outcome, session_id as "sessionId", account_id as "accountId", scope,
        sealed_successor as "sealedSuccessor"
      from employee.spend_token(${digestToken(presented)}, ${digestToken(successor)}, ${sealed})`,
  );
  if (spent?.outcome === "reused")
    log.warn("a refresh token was reused; its session is revoked", { session_id: spent.sessionId });
  if (spent?.outcome !== "rotated" && spent?.outcome !== "replayed") throw new Fault(spentToken);
  return answer(spent.accountId, spent.scope, openSuccessor(presented, spent.sealedSuccessor));
};
