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
