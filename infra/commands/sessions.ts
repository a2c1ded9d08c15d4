import { parseArgs } from "node:util";
import { CommandError, command, runCommand } from "./command.ts";
import { withConnection } from "./connect.ts";
import { formatTable, formatTime } from "./listing.ts";

const usage = `Usage:
  npm run sessions -- list                 employees' sessions that may still be refreshed
  npm run sessions -- end SESSION|ACCOUNT  one session, or all of an account of the legacy system

An access token that was issued before stays valid until it expires, for at most 15 minutes.`;

interface Session {
  id: string;
  account: string;
  scope: string;
  startedAt: Date;
  refreshedAt: Date;
  expiresAt: Date;
}

const list = () =>
  withConnection(
    "employee-admin",
    (sql) => sql<Session[]>`
      select session_id as id, account_id as account, scope, started_at as "startedAt",
        refreshed_at as "refreshedAt", expires_at as "expiresAt"
      from employee.list_sessions()`,
  );

const end = async (name: string): Promise<number> => {
  const [row] = await withConnection(
    "employee-admin",
    (sql) => sql<{ ended: number }[]>`select employee.end_sessions(${name})::int as ended`,
  );
  return row?.ended ?? 0;
};

export const run = command(usage, async (args) => {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const [verb, name, ...more] = positionals;
  if (more.length > 0) throw new CommandError(`${more.join(" ")} is one word too many`);
  if (verb === "list" && name !== undefined) throw new CommandError(`${name} is one word too many`);
  if (verb === "list") {
    const rows = (await list()).map(({ id, account, scope, startedAt, refreshedAt, expiresAt }) => [
      ...[account, id, scope],
      ...[startedAt, refreshedAt, expiresAt].map(formatTime),
    ]);
    console.log(formatTable(["account", "session", "scope", "started", "refreshed", "expires"], rows));
    return 0;
  }
  if (verb !== "end") throw new CommandError(`There is no «${verb}»; choose list or end`);
  if (!name) throw new CommandError("Give a session or an account; «npm run sessions -- list» shows them");
  const ended = await end(name);
  if (ended === 0) throw new CommandError(`${name} is neither a session nor an account that has one`);
  console.log(`ended ${ended} ${ended === 1 ? "session" : "sessions"}`);
  return 0;
});

if (import.meta.main) await runCommand(run);
