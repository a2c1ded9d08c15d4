import { nameTerm } from "#lib/employee/attempt.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { CommandError } from "./command.ts";
import { formatTable, formatTime } from "./output.ts";
import { cityCommand, noun, readStageSecret, withConnection } from "./stage.ts";

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

/** Returns the digest that stands for a username or NIP in the database. */
const digestOf = async (name: string): Promise<Buffer> =>
  digestWith(await readStageSecret("attempt-pepper")).digest(nameTerm(name));

const end = async (name: string) => {
  const ended = await withConnection("employee-admin", async (sql) => {
    const [row] = await sql<{ ended: number }[]>`
      select employee.end_sessions(${name}, ${await digestOf(name)})::int as ended`;
    return row?.ended ?? 0;
  });
  if (ended === 0)
    throw new CommandError(
      `No open session of "${name}". A person who logged in with the NIP is not found by the username, and vice versa. See: ${cityCommand("sessions", "list")}`,
    );
  return { text: `${ended} ${ended === 1 ? "session" : "sessions"} ended`, json: { ended } };
};

const unlock = async (name: string) => {
  const cleared = await withConnection("employee-admin", async (sql) => {
    const [row] = await sql<{ cleared: number }[]>`
      select employee.unlock_account(${await digestOf(name)})::int as cleared`;
    return row?.cleared ?? 0;
  });
  if (cleared === 0)
    throw new CommandError(
      `No failed logins for "${name}", so nothing is locked. Use the name that was typed at the login: the username or the NIP.`,
    );
  return { text: `${cleared} failed attempts for "${name}" are cleared`, json: { cleared } };
};

export const run = noun(
  "sessions",
  "List and end the login sessions of employees.\n\n" +
    "Access tokens that were already issued remain valid until they expire, for at most 15 minutes.",
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
