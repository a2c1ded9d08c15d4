import { readFileSync } from "node:fs";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import postgres from "postgres";
import type * as z from "zod/mini";
import { findSetting, setDefaults } from "#lib/config.ts";
import { type Credentials, connectionTo, readAdmin, tlsSetting } from "#lib/db/credentials.ts";
import { isUnreachable } from "#lib/db/outage.ts";
import type { LoginRole } from "#lib/db/roles.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import { takeCredentialsFrom } from "#lib/secrets/secrets-manager.ts";
import { type SecretName, type SecretValue, secretTable } from "#lib/secrets/table/table.ts";
import { quoteWord } from "#lib/shell-word.ts";
import { cityVariablesOf, secretName } from "../aws/stage-names.ts";
import { findDevFile, localFolder } from "../local/dev-file.ts";
import { localSecretName, readLocalSecret } from "../local/secrets/store.ts";
import { CommandError, command, type Define, WrongCall } from "./command.ts";

/*
 * What a command works with: a deployed stage, else the running `npm run dev`. `DATABASE_URL` replaces the database of either.
 */

interface Stage {
  readonly stage?: string | undefined;
  /** Where the stage's database is reached from here: `host:port`. */
  readonly via?: string | undefined;
}

const cdkFile = new URL("../../cdk.json", import.meta.url);

let chosen: Stage = {};

const isAddress = (via: string): boolean => {
  const [, port] = /^[\w.-]+:(\d{1,5})$/.exec(via) ?? [];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
};

/** Chooses for the whole process. @throws WrongCall */
const chooseStage = (given: Stage): void => {
  if (given.stage !== undefined && !/^[a-z][a-z0-9-]{0,29}$/.test(given.stage))
    throw new WrongCall(`--stage must be the name of a deployed stage, such as prod, not ${given.stage}`);
  if (given.via !== undefined && (given.stage === undefined || !isAddress(given.via)))
    throw new WrongCall(
      "--via is where the database of --stage is reached from here, such as 127.0.0.1:5433",
    );
  if (given.via !== undefined && findSetting("DATABASE_URL") !== undefined)
    throw new WrongCall(
      "--via has no effect while DATABASE_URL is set, which replaces the database. Unset one.",
    );
  chosen = given;
  if (given.stage !== undefined)
    setDefaults(cityVariablesOf(given.stage, JSON.parse(readFileSync(cdkFile, "utf8")).context));
  // of a profile or a single sign-on, too
  if (given.stage !== undefined) takeCredentialsFrom(new SecretsManagerClient({}).config.credentials);
};

/** Creates the command of a noun, `npm run city -- NOUN`, which works with the stage that `--stage` names. */
export const noun = (name: string, summary: string, define: Define) =>
  command(`city -- ${name}`, summary, (program, ...rest) => {
    const staged = program
      .option("--stage <name>", "a deployed stage, such as prod, in place of the running npm run dev")
      .option("--via <host:port>", "where the stage's database is reached from here, such as 127.0.0.1:5433");
    // arguments of a verb are read before its action
    for (const event of ["preSubcommand", "preAction"] as const)
      staged.hook(event, () => chooseStage(staged.opts()));
    define(program, ...rest);
  });

/** The command for the operator to run next, with the same stage: without it, the local system would be changed. */
export const cityCommand = (...words: readonly string[]): string => {
  const { stage, via } = chosen;
  const options = [
    ...(stage === undefined ? [] : ["--stage", stage]),
    ...(via === undefined ? [] : ["--via", via]),
  ];
  return `npm run city -- ${[...words, ...options].map(quoteWord).join(" ")}`;
};

/** The deployed stage that `--stage` names. */
export const findStage = (): string | undefined => chosen.stage;

/** @throws WrongCall without `--stage`, for what only a deployed stage has. */
export const requireStage = (): string => {
  if (chosen.stage === undefined) throw new WrongCall("Add --stage NAME, such as --stage prod");
  return chosen.stage;
};

/** Whether commands use the running `npm run dev`. */
export const isLocal = (): boolean => chosen.stage === undefined && findSetting("DATABASE_URL") === undefined;

const noSystem = `No local system is running. To start one, run npm run dev in another terminal.
For a deployed stage, add --stage NAME, and set AWS_REGION and AWS credentials.`;

/** @throws CommandError if it does not run. */
export const requireDev = () => {
  const dev = findDevFile(localFolder);
  if (!dev) throw new CommandError(noSystem);
  return dev;
};

/** Reads a secret. @throws WrongCall for another database, whose secrets only its stage has. */
export const readStageSecret = async <N extends SecretName>(name: N): Promise<SecretValue<N>> => {
  if (chosen.stage !== undefined) {
    const schema: z.ZodMiniType = secretTable[name].schema();
    return (await readSecret(secretName(chosen.stage, name), schema)) as SecretValue<N>;
  }
  if (!isLocal())
    throw new WrongCall(
      `Add --stage NAME: this needs the secret ${name} of the stage to which the database belongs.`,
    );
  requireDev();
  return readLocalSecret(name);
};

/** Returns a client that may change a secret, and the secret's full name. */
export const openSecret = (name: SecretName) => {
  if (chosen.stage !== undefined)
    return { sdk: new SecretsManagerClient({}), id: secretName(chosen.stage, name) };
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const sdk = new SecretsManagerClient({ region: "local", endpoint: requireDev().secretsUrl, credentials });
  return { sdk, id: localSecretName(name) };
};

/** By default, the driver exchanges a connection after half an hour, and with it the locks of a long import. */
const options = { fetch_types: false, onnotice: () => {}, max_lifetime: null };

/** Requires TLS for any other host, because the data is personal, unless the URL sets `sslmode`. */
const needsTls = (url: string): boolean => {
  const parsed = URL.parse(url);
  if (!parsed)
    throw new CommandError("DATABASE_URL is invalid. Expected: postgres://user:password@host/database");
  const { hostname, searchParams } = parsed;
  return !["127.0.0.1", "localhost", "[::1]"].includes(hostname) && !searchParams.has("sslmode");
};

/** Connects to where the database is reached from here; the certificate must be that of its own host. */
const connectVia = (credentials: Credentials, via: string | undefined, max: number): postgres.Sql => {
  const ssl = tlsSetting();
  if (via === undefined) return postgres({ ...options, max, ...connectionTo(credentials), ssl });
  const [host = "", port] = via.split(":");
  return postgres({
    ...options,
    max,
    ...connectionTo(credentials),
    host,
    port: Number(port),
    ssl: ssl && { servername: credentials.host },
  });
};

/** The administrator migrates. */
type Role = LoginRole | "admin";

const connect = async (role: Role, max: number): Promise<postgres.Sql> => {
  const url = findSetting("DATABASE_URL");
  if (url) return postgres(url, { ...options, max, ...(needsTls(url) && { ssl: "verify-full" as const }) });
  // the administrator's secret of an existing database has any name, and no address
  if (role === "admin" && findSetting("DATABASE_SECRET_ID"))
    return connectVia(await readAdmin(), chosen.via, max);
  const credentials = await readStageSecret(`database/${role}`);
  if (chosen.stage !== undefined) return connectVia(credentials, chosen.via, max);
  return postgres({ ...options, max, ...connectionTo(credentials), ssl: false });
};

/** The connection was not made, or ended before the database answered. */
const lost = new Set(["ECONNRESET", "ETIMEDOUT", "CONNECT_TIMEOUT", "CONNECTION_CLOSED"]);

/** What OpenSSL and Node say of a certificate that they do not accept. */
const untrusted = /^(ERR_TLS_CERT|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(GET|VERIFY)_)/;

/** It has no such database, schema, table, column or function. */
const otherSchema = new Set(["3D000", "3F000", "42P01", "42703", "42883"]);

/** How to reach a stage, for messages. */
const section = "/docs/runbook#reach-the-console-and-the-database";

const howToReach = (): string => {
  if (isLocal()) return `\n${noSystem}`;
  if (chosen.stage === undefined) return "";
  if (findSetting("DATABASE_URL") !== undefined) return "\nIts address is in DATABASE_URL.";
  return chosen.via === undefined
    ? `\nIt has no public address: forward a port as in ${section}, and add --via 127.0.0.1:PORT.`
    : `\nIs a port forwarded to ${chosen.via}, as in ${section}?`;
};

/** Says what the operator can do about a failure of the connection; undefined for another failure. */
const explainConnection = (error: unknown): string | undefined => {
  const { code = "", message } = error as { code?: string; message: string };
  if (untrusted.test(code))
    return (
      `The certificate of the database cannot be verified (${code}). ` +
      `NODE_EXTRA_CA_CERTS must name a file with its CA, as in ${section}.`
    );
  if (message.startsWith("Client network socket disconnected before secure TLS"))
    return "The server closed the connection in place of encrypting it: it is no PostgreSQL with TLS.";
  if (otherSchema.has(code))
    return `The database is another one, or has the schema of another release: ${message}.`;
  return isUnreachable(code) || lost.has(code)
    ? `The database cannot be reached (${code}).${howToReach()}`
    : undefined;
};

/**
 * Runs work on a connection as the given role: to the database in `DATABASE_URL`, or that of the stage, or that of the running
 * `npm run dev`.
 *
 * @throws CommandError that says how to provide a database, if none is running or reached.
 */
export const withConnection = async <T>(
  role: Role,
  work: (sql: postgres.Sql) => Promise<T>,
  { max = 1 }: { max?: number } = {},
): Promise<T> => {
  const sql = await connect(role, max);
  try {
    return await work(sql);
  } catch (error) {
    const explained = explainConnection(error);
    throw explained === undefined ? error : new CommandError(explained);
  } finally {
    // after a failure a query may still be pending on a broken connection, so do not wait for long
    await sql.end({ timeout: 1 });
  }
};

/** Runs work with what manages a stage's rows as the given role. @throws as {@link withConnection} does. */
export const withDirectoryOf =
  <D>(role: LoginRole, open: (sql: postgres.Sql) => D) =>
  <T>(work: (directory: D) => Promise<T>): Promise<T> =>
    withConnection(role, (sql) => work(open(sql)));
