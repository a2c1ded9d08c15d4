import type postgres from "postgres";

const query = `
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
  union all select concat_ws(' ', 'functions', name, checksum, functions) from migration.repeatable
  order by line`;

/** Describes everything that migrations create, a line each. Roles are of the server, not of the database. */
export const describeSchema = async (sql: postgres.Sql): Promise<string[]> => {
  const rows = await sql.unsafe<{ line: string }[]>(query);
  return rows.map(({ line }) => line);
};
