// Says whether it could log in with the credentials in its only argument: a process of its own, as Node reads
// the authorities to trust when it starts.
import { logsIn } from "#lib/db/password.ts";

const outcome = await logsIn(JSON.parse(process.argv[2] ?? "{}")).catch(
  (error: { code?: string; message: string }) => error.code ?? error.message,
);
process.stdout.write(String(outcome));
