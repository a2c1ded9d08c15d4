// Says whether it could log in with the credentials in its only argument, or else as the messenger does with those in
// its secret: a process of its own, as Node reads the authorities to trust when it starts.
import { logsIn } from "#lib/db/password.ts";
import { connect } from "#lib/db/pool.ts";

const [credentials] = process.argv.slice(2);

const logInWatched = async () => {
  const sql = await connect(1, undefined, 35_000);
  const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
  await sql.end();
  return row?.ssl;
};

const outcome = await (credentials ? logsIn(JSON.parse(credentials)) : logInWatched()).catch(
  (error: { code?: string; message: string }) => error.code ?? error.message,
);
process.stdout.write(String(outcome));
