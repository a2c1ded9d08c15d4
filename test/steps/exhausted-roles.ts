import postgres from "postgres";

/** Runs work while the roles have no connection left: those they had are ended, and they get no new ones. */
export const withoutConnections = async (
  adminUrl: string,
  roles: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> => {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} });
  const limit = async (connections: number) => {
    for (const role of roles) await sql.unsafe(`alter role ${role} connection limit ${connections}`);
  };
  try {
    for (const role of roles) await sql.unsafe(`grant ${role} to current_user`);
    await limit(0);
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename in ${sql(roles)}`;
    await work();
  } finally {
    await limit(-1);
    await sql.end();
  }
};
