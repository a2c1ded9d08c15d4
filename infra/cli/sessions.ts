import { nameTerm } from "#lib/employee/attempt.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./output.ts";
import { findPepper } from "./pepper.ts";

interface Session {
  account: string;
  session: string;
  scope: string;
  startedAt: Date;
  refreshedAt: Date;
  expiresAt: Date;
}

const list = async () => {
  const sessions = await withConnection("employee-admin", async (sql) => [
    ...(await sql<Session[]>`
        select account_id as account, session_id as session, scope, started_at as "startedAt",
          refreshed_at as "refreshedAt", expires_at as "expiresAt"
        from employee.list_sessions()`),
  ]);
  const rows = sessions.map(({ account, session, scope, startedAt, refreshedAt, expiresAt }) => [
    account,
    session,
    scope,
    ...[startedAt, refreshedAt, expiresAt].map(formatTime),
  ]);
  const text = formatTable(["account", "session", "scope", "started", "refreshed", "expires"], rows);
  return { text, json: { sessions } };
};

const pepperHint = "set PEPPER_SECRET_ID to the full name of the stage's secret attempt-pepper";

/** Returns the digest that stands for a username or NIP in the database, or undefined without the stage's pepper. */
const findDigest = async (name: string): Promise<Buffer | null> => {
  const pepper = await findPepper("PEPPER_SECRET_ID", "attempt-pepper");
  return pepper ? digestWith(pepper).digest(nameTerm(name)) : null;
};

const end = async (name: string) => {
  const { ended, byName } = await withConnection("employee-admin", async (sql) => {
    const digest = await findDigest(name);
    const [row] = await sql<{ ended: number }[]>`
      select employee.end_sessions(${name}, ${digest})::int as ended`;
    return { ended: row?.ended ?? 0, byName: digest !== null };
  });
  if (ended === 0)
    throw new CommandError(
      byName
        ? `No open session of "${name}". A person who logged in with the NIP is not found by the username, and vice versa. See: npm run sessions -- list`
        : `No open session with ID or account "${name}". To end sessions by username or NIP, ${pepperHint}. See: npm run sessions -- list`,
    );
  return { text: `${ended} ${ended === 1 ? "session" : "sessions"} ended`, json: { ended } };
};

const unlock = async (name: string) => {
  const cleared = await withConnection("employee-admin", async (sql) => {
    const digest = await findDigest(name);
    if (!digest) throw new CommandError(`To unlock an account, ${pepperHint}`);
    const [row] = await sql<{ cleared: number }[]>`select employee.unlock_account(${digest})::int as cleared`;
    return row?.cleared ?? 0;
  });
  if (cleared === 0)
    throw new CommandError(
      `No failed logins for "${name}", so nothing is locked. Use the name that was typed at the login: the username or the NIP.`,
    );
  return { text: `${cleared} failed attempts for "${name}" are cleared`, json: { cleared } };
};

export const run = command(
  "sessions",
  "List and end the login sessions of employees.\n\n" +
    "Access tokens that were already issued remain valid until they expire, for at most 15 minutes. On a stage, " +
    "usernames and NIPs also need PEPPER_SECRET_ID, the full name of the secret attempt-pepper.",
  (program, answer) => {
    program.command("list").description("list the open sessions").action(answer(list));
    program
      .command("end")
      .description("end one session, or all sessions of an account")
      .argument("<who>", "username, NIP, account ID of the legacy system, or session ID")
      .action(answer(end));
    program
      .command("unlock")
      .description("forget the failed logins for a username or NIP")
      .argument("<name>", "username or NIP, as typed at the login")
      .action(answer(unlock));
  },
);

if (import.meta.main) await runCommand(run);
