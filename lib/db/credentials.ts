import * as z from "zod/mini";
import { findSetting, getSetting } from "#lib/config.ts";
import { readSecret } from "#lib/secrets/secret.ts";

/**
 * A database secret, in RDS format.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_secret_json_structure.html
 */
export const Credentials = z.object({
  host: z.string(),
  port: z.int(),
  dbname: z.string(),
  username: z.string(),
  password: z.string(),
});
export type Credentials = z.infer<typeof Credentials>;

/** Returns the same credentials as options of the driver. */
export const connectionTo = ({ dbname, ...rest }: Credentials) => ({ ...rest, database: dbname });

/** Returns the driver's TLS mode: encrypted and verified, unless the settings disable it. */
export const tlsSetting = (): "verify-full" | false =>
  findSetting("DATABASE_TLS") === "disable" ? false : "verify-full";

/** The driver's types: totals are JSON integers. */
export const types = { bigint: { to: 20, from: [20], parse: Number, serialize: String } };

/** Returns the options of the driver that every connection of the product shares. */
export const driverOptions = (credentials: Credentials) => ({
  ...connectionTo(credentials),
  ssl: tlsSetting(),
  fetch_types: false, // array types are not used; fetching them costs a round trip, 8 ms cold
  onnotice: () => {},
});

/** A secret managed by RDS has only these fields. */
const Admin = z.object({ username: z.string(), password: z.string() });

/** Reads the administrator's login from the secret, and the database's address from the settings. */
export const readAdmin = async (): Promise<Credentials> => ({
  ...(await readSecret(getSetting("DATABASE_SECRET_ID"), Admin)),
  host: getSetting("DATABASE_HOST"),
  port: Number(getSetting("DATABASE_PORT")),
  dbname: getSetting("DATABASE_NAME"),
});

/** Tells who deploys how to finish a migration that takes longer than a function may. @param stage its name. */
export const finishByHand = ({ host, port, dbname }: Credentials, stage: string): string =>
  `run it without a time limit, from a checkout of the commit that was deployed. Reach ${host}:${port} as in ` +
  `/docs/runbook#reach-the-console-and-the-database, then: DATABASE_SECRET_ID=${getSetting("DATABASE_SECRET_ID")} ` +
  `DATABASE_HOST=${host} DATABASE_PORT=${port} DATABASE_NAME=${dbname} npm run city -- migrate ` +
  `--stage ${stage} --via 127.0.0.1:5433. Then deploy again.`;
