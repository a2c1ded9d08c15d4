import postgres from "postgres";
import { type Credentials, connectionTo } from "#lib/db/credentials.ts";
import { migrate } from "#lib/db/migrate.ts";
import { setPassword } from "#lib/db/password.ts";
import { type ConnectionLimits, type LoginRole, limitConnections, loginRoles } from "#lib/db/roles.ts";
import { mintToken } from "#lib/opaque-token.ts";
import type { Via } from "./loopback.ts";
import { startServer } from "./postgres/server.ts";
import { localSecretName, readLocalSecret, type SecretStore } from "./secrets/store.ts";

export type LocalDatabase = Awaited<ReturnType<typeof startDatabase>>;

const dbname = "municipal";
const admin = "municipal_admin";

/** Without `fetch_types`: the driver would query array types and ignore a failure. */
const options = { max: 1, fetch_types: false, onnotice: () => {} };

/** Creates an administrator who, as in a managed database, may create roles and databases but is not a superuser. */
const bootstrap = async (port: number, superuserPassword: string, adminPassword: string) => {
  const sql = postgres({
    host: "127.0.0.1",
    port,
    username: "postgres",
    password: superuserPassword,
    database: "postgres",
    ...options,
  });
  try {
    const [role] = await sql`select from pg_roles where rolname = ${admin}`;
    if (!role) await sql.unsafe(`create role ${admin} login createrole createdb`);
    await setPassword(sql, admin, adminPassword);
    const [database] = await sql`select from pg_database where datname = ${dbname}`;
    if (!database) await sql.unsafe(`create database ${dbname} owner ${admin}`);
  } finally {
    await sql.end();
  }
};

interface DatabaseOptions {
  readonly via?: Via | undefined;
  /** The server's connections, and each role's share of them. */
  readonly capacity?: { readonly connections: number; readonly roles: ConnectionLimits } | undefined;
  /** Other settings of the server. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Folder with the programs of another version of PostgreSQL. */
  readonly programs?: string | undefined;
  /** Receives each line of the server's log. */
  readonly onLog?: ((line: string) => void) | undefined;
}

/** Starts the server, migrates the schema, and creates a password and a secret for each role. */
export const startDatabase = async (
  folder: string,
  store: SecretStore,
  durable: boolean,
  { via, capacity, settings = {}, programs, onLog }: DatabaseOptions = {},
) => {
  const superuserPassword = store.getOrCreate(localSecretName("database/superuser"), () => mintToken(""));
  const server = await startServer({
    ...{ folder, durable, superuserPassword, programs, onLog },
    settings: { ...settings, ...(capacity && { max_connections: String(capacity.connections) }) },
  });
  const address = { host: "127.0.0.1", port: (await via?.("database", server.port)) ?? server.port, dbname };
  const adminId = localSecretName("database/admin");
  const adminPassword = store.find(adminId)
    ? readLocalSecret("database/admin", store).password
    : mintToken("");
  store.put(adminId, JSON.stringify({ ...address, username: admin, password: adminPassword }));
  const adminUrl = `postgres://${admin}:${adminPassword}@${address.host}:${server.port}/${dbname}`;

  const setCredentials = async (sql: postgres.Sql, role: LoginRole) => {
    const credentials: Credentials = {
      ...address,
      username: loginRoles[role],
      password: mintToken(""),
    };
    await setPassword(sql, credentials.username, credentials.password);
    store.put(localSecretName(`database/${role}`), JSON.stringify(credentials));
  };
  const asAdmin = async (work: (sql: postgres.Sql) => Promise<unknown>) => {
    const sql = postgres(adminUrl, options);
    await work(sql).finally(() => sql.end());
  };

  try {
    await bootstrap(server.port, superuserPassword, adminPassword);
    await asAdmin(async (sql) => {
      await migrate(sql);
      await limitConnections(sql, capacity?.roles ?? {});
      for (const role of Object.keys(loginRoles) as LoginRole[]) await setCredentials(sql, role);
    });
  } catch (error) {
    await server.stop();
    if ((error as { code?: string }).code === "28P01")
      throw new Error(
        "The database does not accept the stored secrets. Start with --fresh to recreate both.",
        { cause: error },
      );
    throw error;
  }
  return {
    server,
    /** For the administrator, who owns the database but is not a superuser, as in the cloud. */
    adminUrl,
    /** Opens one connection with the credentials in a role's secret. */
    connectAs: (role: LoginRole): postgres.Sql =>
      postgres({
        ...options,
        ...connectionTo(readLocalSecret(`database/${role}`, store)),
        port: server.port,
      }),
    /** Sets a new password for a role, in the database and in its secret. */
    rotatePassword: (role: LoginRole): Promise<void> => asAdmin((sql) => setCredentials(sql, role)),
  };
};
