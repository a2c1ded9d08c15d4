import type postgres from "postgres";

/** Deletes all rows that are too old, as the maintenance does. */
export const deleteOld = async (sql: postgres.Sql): Promise<void> => {
  const tables = await sql<{ relation: string }[]>`select relation from city.retention()`;
  for (const { relation } of tables)
    for (let rows = 1; rows > 0; )
      rows = (await sql<{ rows: number }[]>`select city.delete_old(${relation}) as rows`)[0]?.rows ?? 0;
};
