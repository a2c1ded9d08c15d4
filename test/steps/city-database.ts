import postgres from "postgres";
import type { OwnCity } from "./own-city.ts";

/** Runs work as the administrator of an own city's database. */
export const withCityDatabase =
  (own: OwnCity) =>
  async <T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
    const sql = postgres(own.city.database.adminUrl, { max: 1, onnotice: () => {} });
    return work(sql).finally(() => sql.end());
  };
