import { findSetting } from "#lib/config.ts";
import { migrate } from "#lib/db/migrate.ts";
import { noun, withConnection } from "./stage.ts";

const about = `Migrate the database, without a time limit.

For a migration that takes longer than the 14 minutes of a deployment's function. Deploy again afterwards, because only a
deployment sets the passwords of the roles. For a stage with a database.kind of existing, set DATABASE_SECRET_ID to the name
of the administrator's secret, and DATABASE_HOST, DATABASE_PORT and DATABASE_NAME. A deployment that fails for lack of time
prints the command with them.`;

export const run = noun("migrate", about, (program, answer, print) => {
  program.action(
    answer(() =>
      withConnection("admin", async (sql) => {
        // the administrator has one for the function
        await sql`set statement_timeout = 0`;
        const timeZone = findSetting("TIME_ZONE");
        const ran = await migrate(sql, { timeZone, onFile: (file) => print(`${file} …`) });
        return { text: "The schema is up to date.", json: { ran } };
      }),
    ),
  );
});
