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

const options = { max: 1, fetch_types: false, prepare: false, onnotice: () => {} };

/** With the schema. Databases of tests are copies of it, in a tenth of the time that the migrations take. */
const source = "test_source";

/** Creates the {@link source}, once for each server. */
const makeSource = async (server: postgres.Sql): Promise<void> => {
  await server`select pg_advisory_lock(hashtext(${source}))`;
  const [exists] = await server`select from pg_database where datname = ${source}`;
  if (!exists) {
    const partial = `${source}_partial`;
    await server.unsafe(`create database ${partial}`);
    const admin = postgres(inject("city").adminUrl.replace(/\/municipal$/, `/${partial}`), options);
    await migrate(admin).finally(() => admin.end());
    await server.unsafe(`alter database ${partial} rename to ${source}`);
  }
  await server`select pg_advisory_unlock(hashtext(${source}))`;
};

/** A copy has neither the privileges nor the settings that belong to the database itself. */
const copySource = async (server: postgres.Sql, name: string): Promise<void> => {
  await server.unsafe(`create database ${name} template ${source}`);
  const superuser = postgres(inject("city").superuserUrl, options);
  await superuser`
    with copy as (
      update pg_database copy set datacl = source.datacl from pg_database source
      where copy.datname = ${name} and source.datname = ${source} returning copy.oid, source.oid source
    )
    insert into pg_db_role_setting
    select copy.oid, setrole, setconfig from copy join pg_db_role_setting on setdatabase = source`;
  await superuser.end();
};

const create = async (
  fill: (server: postgres.Sql, name: string) => Promise<unknown>,
  onEnd: (remove: () => Promise<void>) => void,
): Promise<TemporaryDatabase> => {
  const name = `test_${Math.random().toString(36).slice(2)}`;
  const server = postgres(inject("city").adminUrl, options);
  await fill(server, name);
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

/**
 * An empty database on the city's server, where the roles exist already.
 *
 * @param onEnd registers its removal. Default: at the end of the test.
 */
export const createEmptyDatabase = (onEnd: Parameters<typeof create>[1] = onTestFinished) =>
  create((server, name) => server.unsafe(`create database ${name}`), onEnd);

/** As {@link createEmptyDatabase}, with the schema. */
export const createDatabase = (onEnd: Parameters<typeof create>[1] = onTestFinished) =>
  create(async (server, name) => {
    await makeSource(server);
    await copySource(server, name);
  }, onEnd);
