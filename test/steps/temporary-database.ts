import postgres from "postgres";
import { inject, onTestFinished } from "vitest";
import { migrate } from "#lib/db/migrate.ts";
import type { Address } from "./connections.ts";

export interface TemporaryDatabase {
  readonly name: string;
  /** The connection string of one of the city's roles, for this database. */
  urlFor(address: Address): string;
  /** One connection of a role, until the database is removed. */
  connect(address: Address): postgres.Sql;
}

/**
 * An empty database on the city's server, where the roles exist already.
 *
 * @param onEnd registers its removal. Default: at the end of the test.
 */
export const createEmptyDatabase = async (
  onEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<TemporaryDatabase> => {
  const name = `test_${Math.random().toString(36).slice(2)}`;
  const options = { max: 1, fetch_types: false, prepare: false, onnotice: () => {} };
  const server = postgres(inject("city").adminUrl, options);
  await server.unsafe(`create database ${name}`);
  const connections: postgres.Sql[] = [];
  onEnd(async () => {
    await Promise.all(connections.map((sql) => sql.end()));
    // a plain drop waits 5 s for sessions that are ending, and for an autovacuum worker, which force may not terminate
    const drop = () => server.unsafe(`drop database ${name}`);
    await drop()
      .catch(drop)
      .catch(() => server.unsafe(`drop database ${name} with (force)`));
    await server.end();
  });
  const urlFor = (address: Address) => inject("city")[address].replace(/\/municipal$/, `/${name}`);
  const connect = (address: Address) => {
    const sql = postgres(urlFor(address), options);
    connections.push(sql);
    return sql;
  };
  return { name, urlFor, connect };
};

/** As {@link createEmptyDatabase}, with the schema. */
export const createDatabase = async (
  onEnd?: Parameters<typeof createEmptyDatabase>[0],
): Promise<TemporaryDatabase> => {
  const database = await createEmptyDatabase(onEnd);
  const admin = database.connect("adminUrl");
  await migrate(admin).finally(() => admin.end());
  return database;
};
