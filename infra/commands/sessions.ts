import { findSetting } from "#lib/config.ts";
import { nameTerm } from "#lib/employee/name-term.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { pepperSchema } from "#lib/secrets/schemas.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { readLocalSecret } from "../local/secrets/store.ts";
import { CommandError, runCommand, verbCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./listing.ts";

const usage = `Usage:
  npm run sessions -- list                 lists the open sessions of employees
  npm run sessions -- end SESSION|ACCOUNT  ends one session, or all sessions of a legacy account
  npm run sessions -- unlock NAME          forgets the failed logins for a username or NIP

Access tokens that were already issued remain valid until they expire, for at most 15 minutes. On a stage, unlock also
needs PEPPER_SECRET_ID, the full name of the secret attempt-pepper.`;

interface Session {
  id: string;
  account: string;
  scope: string;
  startedAt: Date;
  refreshedAt: Date;
  expiresAt: Date;
}

const list = async () => {
  const sessions = await withConnection(
    "employee-admin",
    (sql) => sql<Session[]>`
      select session_id as id, account_id as account, scope, started_at as "startedAt",
        refreshed_at as "refreshedAt", expires_at as "expiresAt"
      from employee.list_sessions()`,
  );
  const rows = sessions.map(({ id, account, scope, startedAt, refreshedAt, expiresAt }) => [
    account,
    id,
    scope,
    ...[startedAt, refreshedAt, expiresAt].map(formatTime),
  ]);
  console.log(formatTable(["account", "session", "scope", "started", "refreshed", "expires"], rows));
};

const end = async (idOrAccount: string | undefined) => {
  if (!idOrAccount)
    throw new CommandError("end needs a session or account ID. See: npm run sessions -- list");
  const [row] = await withConnection(
    "employee-admin",
    (sql) => sql<{ ended: number }[]>`select employee.end_sessions(${idOrAccount})::int as ended`,
  );
  const ended = row?.ended ?? 0;
  if (ended === 0)
    throw new CommandError(
      `No open session with ID or account "${idOrAccount}". Accounts are legacy IDs; see: npm run sessions -- list`,
    );
  console.log(`${ended} ${ended === 1 ? "session" : "sessions"} ended`);
};

const unlock = async (name: string | undefined) => {
  if (!name) throw new CommandError("unlock needs the username or NIP that the account logs in with");
  const secret = findSetting("PEPPER_SECRET_ID");
  if (!secret && (findSetting("DATABASE_URL") ?? findSetting("DATABASE_SECRET_ID")))
    throw new CommandError(
      "unlock needs PEPPER_SECRET_ID, the full name of the stage's secret attempt-pepper",
    );
  const [row] = await withConnection("employee-admin", async (sql) => {
    const pepper = secret ? await readSecret(secret, pepperSchema()) : readLocalSecret("attempt-pepper");
    const digest = digestWith(pepper).digest(nameTerm(name));
    return sql<{ cleared: number }[]>`select employee.unlock_account(${digest})::int as cleared`;
  });
  console.log(`${row?.cleared ?? 0} failed attempts for "${name}" are cleared`);
};

export const run = verbCommand(
  usage,
  {},
  { list, "end SESSION|ACCOUNT": (_, name) => end(name), "unlock NAME": (_, name) => unlock(name) },
);

if (import.meta.main) await runCommand(run);
