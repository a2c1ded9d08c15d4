import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";

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
