import postgres from "postgres";

/** Runs work while the roles have no connection left: those they had are ended, and they get no new ones. */
export const withoutConnections = async (
  adminUrl: string,
  roles: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> => {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  const before = await sql<{ role: string; connections: number; isMember: boolean }[]>`
    select rolname as role, rolconnlimit as connections, pg_has_role(oid, 'usage') as "isMember"
    from pg_roles where rolname in ${sql(roles)}`;
  // only a member may end a role's connections
  const joined = before.filter(({ isMember }) => !isMember);
  const limit = (role: string, connections: number) =>
    sql.unsafe(`alter role ${role} connection limit ${connections}`);
  try {
    for (const { role } of joined) await sql.unsafe(`grant ${role} to current_user`);
    for (const { role } of before) await limit(role, 0);
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename in ${sql(roles)}`;
    await work();
  } finally {
    for (const { role, connections } of before) await limit(role, connections);
    for (const { role } of joined) await sql.unsafe(`revoke ${role} from current_user`);
    await sql.end();
  }
};
