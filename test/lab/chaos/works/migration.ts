import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { loginRoles } from "#lib/db/roles.ts";
import { canLogIn } from "../../../steps/connections.ts";
import { startBundle } from "../../../steps/function.ts";
import { describeSchema } from "../../../steps/schema.ts";
import type { Work } from "../functions.ts";
import { asAdmin, loginOf, type Stage } from "./stage.ts";

/** Leaves the city's roles with other passwords than those in its secrets. */
export const migration = (stage: Stage): Work => {
  const { city } = stage;
  const url = new URL(city.database.adminUrl);
  const { host, port } = loginOf(stage, "tourism");
  const roles = Object.entries(loginRoles);
  let made = 0;
  let complete: readonly string[] | undefined;
  const name = () => `killed_${made}`;
  const prefix = () => `municipal/${name()}/`;
  const run = () =>
    startBundle(
      "migrate",
      {},
      {
        ...city.variables({ secrets: {} }),
        DATABASE_SECRET_ID: `${prefix()}database/admin`,
        DATABASE_HOST: host,
        DATABASE_PORT: String(port),
        DATABASE_NAME: name(),
        SECRETS_PREFIX: prefix(),
      },
    );
  const describe = async (): Promise<string[]> => {
    const sql = postgres(city.database.adminUrl, { database: name(), max: 1, fetch_types: false });
    return describeSchema(sql).finally(() => sql.end());
  };
  return {
    async prepare() {
      // the one before was not interrupted
      if (made === 1) complete = await describe();
      // force would have to terminate an autovacuum worker, which only a superuser may; a plain drop waits for it
      await asAdmin(stage, (sql) => sql.unsafe(`drop database if exists ${name()}`));
      made += 1;
      await asAdmin(stage, (sql) => sql.unsafe(`create database ${name()}`));
      const { username, password } = url;
      city.secrets.put(`${prefix()}database/admin`, JSON.stringify({ username, password }));
      for (const [role, login] of roles) {
        const credentials = {
          host,
          port,
          dbname: name(),
          username: login,
          password: randomBytes(20).toString("hex"),
        };
        city.secrets.put(`${prefix()}database/${role}`, JSON.stringify(credentials));
      }
    },
    start: run,
    async again() {
      const { code, lines } = await run().ended;
      const wrongs = code === 0 ? [] : [lines.join("; ")];
      const found = await describe();
      for (const line of complete ?? []) if (!found.includes(line)) wrongs.push(`missing: ${line}`);
      for (const line of found) if (!complete?.includes(line)) wrongs.push(`different: ${line}`);
      for (const [role] of roles) {
        const secret = city.secrets.find(`${prefix()}database/${role}`)?.value ?? "{}";
        if (!(await canLogIn(JSON.parse(secret)))) wrongs.push(`${role} cannot log in`);
      }
      return wrongs;
    },
  };
};
