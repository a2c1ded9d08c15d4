import { randomBytes } from "node:crypto";
import postgres from "postgres";
import { loginRoles } from "#lib/db/roles.ts";
import { canLogIn } from "../../steps/connections.ts";
import { startBundle } from "../../steps/function.ts";
import type { Work } from "../functions.ts";
import { asAdmin, loginOf, type Stage } from "./stage.ts";

/** Everything that migrations create, a line each. Roles are of the server, not of the database. */
const describeSchema = `
  with own as (
    select oid, nspname, nspacl, nspowner from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
  )
  select concat_ws(' ', 'schema', nspname, nspowner::regrole, nspacl) as line from own
  union all select concat_ws(' ', 'relation', c.oid::regclass, relkind, relowner::regrole, relacl, reloptions,
      case when relkind in ('v', 'm') then pg_get_viewdef(c.oid) when relkind = 'i' then pg_get_indexdef(c.oid) end)
    from pg_class c join own on own.oid = relnamespace
  union all select concat_ws(' ', 'column', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod),
      attnotnull, attidentity, attacl, pg_get_expr(adbin, adrelid))
    from pg_attribute a join pg_class c on c.oid = attrelid join own on own.oid = relnamespace
    left join pg_attrdef d on adrelid = attrelid and adnum = attnum
  union all select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(c.oid))
    from pg_constraint c join own on own.oid = connamespace
  union all select concat_ws(' ', 'trigger', tgrelid::regclass, tgenabled, pg_get_triggerdef(t.oid))
    from pg_trigger t join pg_class c on c.oid = tgrelid join own on own.oid = relnamespace where not tgisinternal
  union all select concat_ws(' ', 'policy', polrelid::regclass, polname, pg_get_expr(polqual, polrelid))
    from pg_policy
  union all select concat_ws(' ', 'function', p.oid::regprocedure, proowner::regrole, proacl, pg_get_functiondef(p.oid))
    from pg_proc p join own on own.oid = pronamespace where prokind in ('f', 'p')
  union all select concat_ws(' ', 'type', t.oid::regtype, typowner::regrole, typacl)
    from pg_type t join own on own.oid = typnamespace
  union all select concat_ws(' ', 'default', defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl)
    from pg_default_acl
  union all select concat_ws(' ', 'setting', setrole::regrole, setconfig)
    from pg_db_role_setting join pg_database d on d.oid = setdatabase where datname = current_database()
  union all select concat_ws(' ', 'database', datdba::regrole, datacl) from pg_database where datname = current_database()
  union all select concat_ws(' ', 'migration', version, name, md5) from migration.version
  order by line`;

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
    const rows = await sql.unsafe<{ line: string }[]>(describeSchema).finally(() => sql.end());
    return rows.map(({ line }) => line);
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
